(function () {
  "use strict";
  var all = function (what, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(what)); };
  var filter = document.querySelector(".filter");
  var said = document.querySelector("#said");
  if (filter) {
    filter.hidden = false;
    filter.addEventListener("input", function () {
      var wanted = filter.value.trim().toLowerCase(), shown = 0;
      all("[data-t]").forEach(function (each) {
        var fits = each.getAttribute("data-t").toLowerCase().indexOf(wanted) >= 0;
        each.hidden = !fits;
        if (fits && each.tagName === "TR") { shown += 1; }
      });
      said.textContent = shown + (shown === 1 ? " table" : " tables");
    });
  }
  all("th[data-s]").forEach(function (head) {
    var button = document.createElement("button");
    button.textContent = head.textContent;
    head.textContent = "";
    head.appendChild(button);
    button.addEventListener("click", function () {
      var up = head.getAttribute("aria-sort") === "descending";
      var place = Array.prototype.indexOf.call(head.parentNode.children, head);
      var body = head.closest("table").tBodies[0];
      var value = function (row) {
        var cell = row.children[place], given = cell.getAttribute("data-v");
        return given === null ? cell.textContent.trim() : Number(given);
      };
      all("tr", body).sort(function (a, b) {
        var x = value(a), y = value(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      }).forEach(function (row) { body.appendChild(row); });
      all("th", head.parentNode).forEach(function (each) { each.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });
  all(".cmd").forEach(function (each) {
    if (!navigator.clipboard) { return; }
    var button = document.createElement("button"), code = each.querySelector("code");
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + code.textContent);
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(code.textContent).then(function () {
        button.textContent = "Copied";
        said.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
    });
    each.appendChild(button);
  });
  var unfold = function () {
    var found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found && found.tagName === "DETAILS") { found.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();
  addEventListener("beforeprint", function () { all("details").forEach(function (each) { each.open = true; }); });
})();
