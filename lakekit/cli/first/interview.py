"""The questions of `lakekit add-source`, each with what was seen; the answers make a draft."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lakekit.cli.first.dialogue import Asker, Doubt, Question
from lakekit.cli.first.look import Api
from lakekit.cli.first.paging import Tried, read_paginator, seen_of, try_ways
from lakekit.cli.first.typed_answers import NONE, about_column, parts_of, read_names, read_response
from lakekit.cli.first.watermark import ask_watermark
from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import parse_type
from lakekit.discover.body import fields_of
from lakekit.discover.columns import Columns, nested_fields, propose_columns
from lakekit.discover.draft import Draft
from lakekit.discover.form import Form, form_of
from lakekit.discover.keys import propose_keys
from lakekit.discover.paging import PagingGuess, around, in_body, probes, propose_paginators
from lakekit.discover.places import Place, find_places
from lakekit.discover.proofs import Proof, prove
from lakekit.discover.roles import RoleGuess, change_time, delete_mark
from lakekit.discover.sample import (
    as_landed,
    contract_of,
    distinct_rows,
    objects_of,
    raw_records,
    typed_records,
    untyped,
)
from lakekit.discover.yaml_text import flow
from lakekit.errors import SourceShapeError
from lakekit.extract import Answer
from lakekit.records.json_values import Fields
from lakekit.records.reader import TypedRecord

# As many proofs as one look may ask for.
MOST_PROOFS = 8
_MOST_PLACES = 5
Chosen = TypeVar("Chosen")


class Interview:
    """Asks about one answer, from its records to its history."""

    def __init__(self, asker: Asker, api: Api, answer: Answer, form: Form, draft: Draft) -> None:
        self._asker, self._api, self._answer, self._form = asker, api, answer, form
        self._draft = draft
        self._lines: list[bytes] = []

    def draft(self) -> Draft:
        """Return what was chosen.

        Raises:
            SourceShapeError: The answer has no records.
            InvalidStepInputError: There is no answer to a question.
        """
        if self._form.name == "csv" or "charset" in self._form.response:
            self._form = self._ask_form()
        self._note("format", self._form.saw)
        self._draft = replace(self._draft, response=self._form.response)
        place = self._ask_place()
        self._lines = self._raw(place)
        if not objects_of(self._lines):
            raise SourceShapeError(
                f"{place.path} has no records in this answer, so that nothing can be said of their "
                "columns; ask with parameters for which there are some"
            )
        self._ask_pages(place)
        self._ask_columns(place)
        self._ask_history()
        return self._draft

    def _note(self, name: str, saw: str) -> None:
        safe = self._api.client.redact(saw)
        self._draft = replace(self._draft, saw={**self._draft.saw, name: safe})

    def _ask(self, question: Question[Chosen]) -> Chosen:
        safe = [self._api.client.redact(each) for each in question.saw]
        safe_question: Question[Chosen] = replace(question, saw=safe)
        return self._asker.ask(safe_question)

    def _ask_form(self) -> Form:
        proposal = flow(self._form.response)

        def read(text: str, again: bool) -> Form:
            if text == proposal:
                return self._form
            try:
                return form_of(self._answer, read_response(text))
            except SourceShapeError as error:
                raise ValueError(str(error).splitlines()[0]) from None

        text = "How is the text written? Another way: {format: csv, delimiter: ';'}."
        return self._ask(
            Question("format", text, proposal, read, [f"{proposal}: {self._form.saw}"])
        )

    def _ask_place(self) -> Place:
        places = find_places(self._form)
        named = {_named(place): place for place in places}

        def read(text: str, again: bool) -> Place:
            if text in named:
                return named[text]
            path, _, shape = text.partition(" ")
            typed = Place(path, "as it was given", 0, shape.strip() or "list")
            return replace(typed, count=len(self._raw(typed)))

        def checked(text: str, again: bool) -> Place:
            try:
                return read(text, again)
            except SourceShapeError as error:
                raise ValueError(str(error)) from None

        saw = [f"{_named(each)}: {each.saw}" for each in places[:_MOST_PLACES]]
        place = self._ask(
            Question("records", "Where are the records?", _named(places[0]), checked, saw)
        )
        self._draft = replace(self._draft, place=place.endpoint)
        self._note("records", place.saw)
        return place

    def _raw(self, place: Place) -> list[bytes]:
        return raw_records(self._form, place, path=self._draft.path)

    def _ask_pages(self, place: Place) -> None:
        objects = objects_of(self._lines)
        last = objects[-1].named() if objects else {}
        seen = around(self._answer, self._form.json, place, last, self._params())
        guesses = self._placed(propose_paginators(seen))[:MOST_PROOFS]
        tried, best = try_ways(guesses, self._placed(probes(seen)), self._prove)
        known = {each.text: each for each in [*tried, *filter(None, [best])]}

        def read(text: str, again: bool) -> Tried:
            found = known.get(text) or Tried(read_paginator(text), Proof(None, ""))
            if text not in known:
                known[text] = found = replace(found, proof=self._prove(found.guess))
            if found.proof.holds is False and not again:
                raise Doubt(found.proof.saw)
            return found

        saw = [f"{each.text}: {seen_of(each)}" for each in tried]
        proposal = best.text if best else ""
        chosen = self._ask(
            Question("pages", "How do the pages follow each other?", proposal, read,
                     [*sorted(saw, key=lambda each: not each.startswith(proposal))])
        )  # fmt: skip
        self._draft = self._draft.paged(chosen.guess.paginator, chosen.guess.sends)
        self._note("pages", seen_of(chosen))
        if any(chosen.proof.pages):
            self._lines = [line for page in chosen.proof.pages for line in page]

    def _params(self) -> dict[str, list[str]]:
        """Return the parameters of the address, and the fields of the body by their names."""
        inside = fields_of(self._draft.body).values if self._draft.body else {}
        return {**inside, **{name: [*values] for name, values in self._draft.params.items()}}

    def _placed(self, guesses: list[PagingGuess]) -> list[PagingGuess]:
        """Put positions into the body, if there is one."""
        body = self._draft.body
        return in_body(guesses, fields_of(body), self._draft.params) if body else guesses

    def _prove(self, guess: PagingGuess) -> Proof:
        draft = replace(self._draft.paged(guess.paginator, guess.sends), columns=self._columns([]))
        first = self._lines if not self._form.is_text else ()
        return prove(self._api.source, draft.contract_document(), self._api.client, guess, first)

    def _ask_columns(self, place: Place) -> None:
        objects = self._objects()
        nested = [
            name for name in nested_fields(objects) if not (place.map_key and name == "value")
        ]
        flatten = ["value"] if place.map_key else []
        if nested:
            usual = [name for name in nested if name in ("attributes", "fields", "properties")]
            question: Question[list[str]] = Question(
                "nested", "Which objects become columns of their own? Others stay whole.",
                ", ".join(usual) or NONE, lambda text, _: read_names(text, nested),
                [f"{name}: an object" for name in nested],
            )  # fmt: skip
            chosen: list[str] = self._ask(question)
            flatten += chosen
        columns = self._columns(flatten)
        self._draft = replace(self._draft, columns=columns)
        count = f"of {len(objects)} records"
        width = max(len(each.name) for each in columns.found)
        shown = [f"{each.name:{width}}  {each.type}{about_column(each)}" for each in columns.found]
        shown += [f"left out: {path}: {why}" for path, why in columns.left_out]
        if odd := len(self._lines) - len(objects):
            shown.append(f"{odd} more records are no objects of JSON, and will be rejected")

        def read(text: str, again: bool) -> dict[str, str]:
            return {} if text == "ok" else self._typed(text, again)

        text = f"Columns, {count}. Another type: name=type, name=type; name=- leaves one out."
        types = self._ask(Question("columns", text, "ok", read, shown))
        kept = tuple(each for each in columns.found if types.get(each.name) != "-")
        dropped = tuple(
            (each.name, "by choice") for each in columns.found if types.get(each.name) == "-"
        )
        left_out = (*columns.left_out, *dropped)
        types = {name: kind for name, kind in types.items() if kind != "-"}
        self._draft = replace(self._draft, columns=Columns(kept, left_out), types=types)
        self._note("columns", f"types {count}")

    def _objects(self) -> list[Fields]:
        found = objects_of(self._lines)
        return [untyped(each) for each in found] if self._form.is_text else found

    def _columns(self, flatten: Sequence[str]) -> Columns:
        found = propose_columns(self._objects(), flatten=flatten, are_texts=self._form.is_text)
        if not found.found:
            raise SourceShapeError("the records have no field that a column can be read from")
        return found

    def _typed(self, text: str, again: bool) -> dict[str, str]:
        names = {each.name for each in self._draft.columns.found}
        types: dict[str, str] = {}
        for part in parts_of(text):
            name, equals, kind = (each.strip() for each in part.partition("="))
            if not equals or name not in names:
                raise ValueError(f"'{part.strip()}' is not COLUMN=TYPE of one of the columns")
            types[name] = kind if kind == "-" else str(parse_type(kind))
        if len([kind for kind in types.values() if kind == "-"]) == len(names):
            raise ValueError("one column must stay")
        kept = {name: kind for name, kind in types.items() if kind != "-"}
        found = self._records(replace(self._draft, types=kept))
        faults = [each.fault for each in found if each.fault]
        if faults and not again:
            raise Doubt(f"{len(faults)} of {len(found)} records would be rejected: {faults[0]}")
        return types

    def _records(self, draft: Draft) -> list[TypedRecord]:
        contract = contract_of(replace(draft, keys=(), sequence_by=None).contract_document())
        return typed_records(self._landed(draft, contract), contract)

    def _landed(self, draft: Draft, contract: Contract) -> list[bytes]:
        """Return the records as an extraction lands them: cells of CSV and XML by their types."""
        if not self._form.is_text:
            return self._lines
        return as_landed(self._objects(), contract)

    def _ask_history(self) -> None:
        records = self._records(self._draft)
        rows, columns = distinct_rows(records), self._draft.columns.found
        keys = propose_keys(columns, rows, self._draft.table)
        names = [each.name for each in columns]

        def read_key(text: str, again: bool) -> tuple[str, ...]:
            if text == NONE:
                return ()
            found = tuple(read_names(text, names))
            self._refuse_key(found, rows, again)
            return found

        saw = [f"{', '.join(each.columns)}: {each.saw}" for each in keys[:4]]
        saw = saw or [f"no column, nor a few together, is unique in {len(rows)} records"]
        key = self._ask(
            Question("key", "Which columns identify a record? none appends all records.",
                     ", ".join(keys[0].columns) if keys else "", read_key, saw)
        )  # fmt: skip
        self._draft = replace(self._draft, keys=key)
        match = next((each.saw for each in keys if each.columns == key), "as it was given")
        self._note("key", match if key else "no key: each run adds all its records")
        if key:
            self._ask_change_time(change_time(columns), names)
            self._ask_extract(delete_mark(columns))

    def _refuse_key(
        self, names: tuple[str, ...], rows: Sequence[dict[str, Any]], again: bool
    ) -> None:
        document = replace(self._draft, keys=names).contract_document()
        try:
            contract_of(document)
        except SourceShapeError as error:
            raise ValueError(str(error).splitlines()[0]) from None
        values = [tuple(row[name] for name in names) for row in rows]
        nulls = sum(None in each for each in values)
        if (nulls or len({*values}) < len(values)) and not again:
            what = f"null in {nulls}" if nulls else f"{len({*values})} values in {len(values)}"
            raise Doubt(f"{', '.join(names)}: {what} records")

    def _ask_change_time(self, guess: RoleGuess | None, names: list[str]) -> None:
        if guess is None:
            return

        def read(text: str, again: bool) -> str | None:
            return None if text == NONE else read_names(text, names)[0]

        question = Question(
            "change time", "Which column has the time of a record's last change, or none?",
            guess.column, read, [f"{guess.column}: {guess.saw}"],
        )  # fmt: skip
        chosen = self._ask(question)
        if chosen is None:
            return
        self._draft = replace(self._draft, sequence_by=chosen)
        self._note("change time", guess.saw if chosen == guess.column else "as it was given")

    def _ask_extract(self, mark: RoleGuess | None) -> None:
        saw = ["full: all records each time; what is absent is deleted"]
        saw += ["incremental: what has changed; what is absent stays"]
        ways = ["full", "incremental"]
        if mark:
            saw += [f"changes: records with {mark.condition} delete; {mark.column} is {mark.saw}"]
            ways += ["changes"]

        def read(text: str, again: bool) -> str:
            if text not in ways:
                raise ValueError(f"one of {', '.join(ways)}")
            return text

        text = "What does the API give? The parameters are the same in each run."
        chosen = self._ask(Question("extract", text, "full", read, saw))
        self._draft = replace(self._draft, extract=chosen)
        about = next(each for each in saw if each.startswith(chosen)).partition(": ")[2]
        if chosen == "changes" and mark:
            self._draft = replace(self._draft, apply_as_deletes=mark.condition)
            self._note("deletes", f"{mark.column} is {mark.saw}")
        elif mark:
            about += f"; {mark.column} may mark deleted records: it is kept as a column"
        self._note("extract", about)
        # A field of a body that takes the watermark is written by hand.
        if chosen == "incremental" and self._draft.sequence_by and not self._draft.body:
            self._ask_watermark(self._draft.sequence_by)

    def _ask_watermark(self, name: str) -> None:
        column = next(each for each in self._draft.columns.found if each.name == name)
        times = [each.values[name] for each in self._records(self._draft) if not each.fault]

        def try_params(params: dict[str, list[str]]) -> tuple[Proof, list[Any]]:
            document = replace(self._draft, params=params).contract_document()
            guess = PagingGuess({**self._draft.paginator}, "")
            proof = prove(self._api.source, document, self._api.client, guess, ())
            contract = contract_of(document)
            found = typed_records(proof.pages[0] if proof.pages else (), contract)
            return proof, [each.values.get(name) for each in found]

        self._draft = ask_watermark(
            self._ask, self._draft, column, self._objects(), times, try_params
        )


def _named(place: Place) -> str:
    return place.path if place.shape == "list" else f"{place.path} {place.shape}"
