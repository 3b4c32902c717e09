"use strict";
// Keys, and the order in which one student follows another. Without this script all works by Tab and Enter.
(() => {
  const ORDER = "desk-order";
  const map = document.getElementById("desk-map");
  const title = document.querySelector("[data-student]");
  const nameOf = (link) => new URL(link.href).searchParams.get("student");
  const links = (place) =>
    Array.from(place.querySelectorAll('a[href^="/student"]')).filter((link) => link.checkVisibility());

  // What is listed when a student is opened is what "next" goes through: a filter, an order, one reason.
  if (map) {
    map.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="/student"]');
      if (!link) return;
      const list = link.closest("tbody, .groups > div");
      sessionStorage.setItem(ORDER, JSON.stringify(links(list).map(nameOf)));
    });
  }
  if (title) {
    const order = JSON.parse(sessionStorage.getItem(ORDER) ?? "[]");
    const place = order.indexOf(title.dataset.student);
    const assignment = new URL(location.href).searchParams.get("assignment");
    for (const [rel, step] of [["prev", -1], ["next", 1]]) {
      const link = document.querySelector(`a[rel=${rel}]`);
      if (place < 0) continue;
      link.removeAttribute("href");
      const student = order[place + step];
      if (student === undefined) continue;
      const fields = new URLSearchParams(assignment ? { student, assignment } : { student });
      link.href = `/student?${fields}`;
    }
  }

  function follow(target) {
    if (target.tagName !== "SUMMARY") {
      target.click();
      return;
    }
    target.parentElement.open = true;
    target.parentElement.querySelector("select, input:not([type=hidden]), textarea").focus();
  }

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, textarea");
    if (field) {
      if (event.key === "Escape") field.blur();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field.form) field.form.requestSubmit();
      if (event.key === "Enter" && field.id === "filter") links(map.querySelector("tbody"))[0]?.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
    if (target) follow(target);
    else if (map && event.key === "/") document.getElementById("filter").focus();
    else if (map && (event.key === "j" || event.key === "k")) {
      const rows = links(map.querySelector("tbody"));
      const now = rows.indexOf(document.activeElement);
      rows[Math.max(0, Math.min(rows.length - 1, now + (event.key === "j" ? 1 : -1)))]?.focus();
    } else return;
    event.preventDefault();
  });
})();
