"""The forms of dates, times and numbers that a landed text may have; for Spark and for Python."""

DATE = "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MINUTE = "[T ][0-9]{2}:[0-9]{2}"
# Microseconds are the most that a time has.
_SECOND = ":[0-9]{2}([.][0-9]{1,6}0*)?"
_OFFSET = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)?"
# By type, without the signs of begin and end, which the two write differently.
FORMS = {
    "date": DATE,
    "timestamp_ntz": rf"{DATE}({_MINUTE}({_SECOND})?)?",
    "timestamp": rf"{DATE}({_MINUTE}({_SECOND}{_OFFSET})?)?",
}
WHOLE_NUMBER = "-?[0-9]+"
# Seconds since 1970 of the years 0001 to 9999.
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799
MOST_DIGITS_OF_DECIMALS = 38
UNREADABLE = "does not parse as the contract's schema"
