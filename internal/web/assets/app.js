// What a page does beyond being read: the palette, search as you type, keys, and being
// notice that something changed. Everything here has a form or a link that does the same.
const policy = window.trustedTypes?.createPolicy("anamnesis", { createHTML: (text) => text });
const parse = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
const $ = (query, from = document) => from.querySelector(query);
const $$ = (query, from = document) => [...from.querySelectorAll(query)];

// fetched is fetch, and says so when nobody answers.
async function fetched(path, options) {
  const answer = await fetch(path, options).catch(() => undefined);
  away(!answer);
  if (!answer) throw new Error("the dashboard does not answer");
  return answer;
}

// away shows, or takes away, that nobody answers.
function away(is) {
  const shown = $("#away");
  if (!is) { shown?.remove(); return; }
  if (shown) return;
  const box = document.createElement("p");
  box.id = "away";
  box.className = "notice danger";
  box.setAttribute("role", "alert");
  box.textContent = "The dashboard does not answer. What is shown may be old, and nothing can be saved: start it again with `anamnesis dashboard --open`, and open its link in this browser.";
  $("main")?.prepend(box);
}

// Theme.
$("#theme")?.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it lasts until the page goes */ }
});

// A part of the page is replaced by the same part of another answer of ours, unless a
// later question was asked at the same time. The row that one is at stays it, where it is there still.
async function replace(url, part, wanted = () => true) {
  const answer = await fetched(url, { headers: { Accept: "text/html" } });
  if (answer.status === 401) { location.reload(); return; } // it was started again: the page says how to come in
  if (!answer.ok) return;
  const next = $(part, parse(await answer.text()));
  const now = $(part);
  if (!next || !now || !wanted()) return;
  const address = (row) => row.id || $("a", row)?.getAttribute("href");
  const row = $("[data-row].at", now);
  const [was, focused] = [row && address(row), row?.contains(document.activeElement)];
  now.replaceWith(document.adoptNode(next));
  dispatchEvent(new Event("replaced"));
  at = was ? $$("[data-row]", $("main")).findIndex((r) => address(r) === was) : before();
  if (!was || at < 0) return;
  const same = $$("[data-row]", $("main"))[at];
  same.classList.add("at");
  if (focused) $("a, button", same)?.focus({ preventScroll: true });
}

// Search as you type.
const live = $("[data-live]");
if (live) {
  let waiting = 0, asked = 0;
  live.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++asked;
      const url = "/browse?" + new URLSearchParams([...new FormData(live)].filter(([, value]) => value));
      history.replaceState(null, "", url);
      await replace(url, "#results", () => mine === asked).catch(() => {});
    }, 160);
  });
}

// Keys: moving in lists, and to pages. After a decision the address names the row where one
// was: the next move goes to it, and only then does a key decide about it.
function before() {
  const place = location.hash.startsWith("#item-") && document.getElementById(location.hash.slice(1));
  return place ? $$("[data-row]", $("main")).indexOf(place) - 1 : -1;
}
let at = before();
function move(by) {
  const rows = $$("[data-row]", $("main"));
  if (!rows.length) return;
  rows[at]?.classList.remove("at");
  at = Math.min(rows.length - 1, Math.max(0, at + by));
  rows[at].classList.add("at");
  rows[at].scrollIntoView({ block: "nearest" });
  $("a, button", rows[at])?.focus({ preventScroll: true });
}
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    palette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  switch (event.key) {
    case "/": event.preventDefault(); ($("[data-search]") ?? $(".find input"))?.focus(); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "?": event.preventDefault(); palette(); break;
    default: {
      // In a list a key is about the row that one has moved to, and about no other; held down, or
      // while an answer is awaited, it decides nothing.
      if (event.repeat || leaving) return;
      const key = `[data-key="${CSS.escape(event.key)}"]`;
      const button = $(`[data-row].at ${key}`) ?? $$(key).find((b) => !b.closest("[data-row]"));
      if (button) { event.preventDefault(); button.click(); }
    }
  }
});
addEventListener("keydown", (event) => { if (event.key === "Escape" && location.hash === "#nav") location.hash = ""; });

// The palette.
let dialog;
function palette() {
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.setAttribute("aria-label", "Search memory or go to a page");
    const input = Object.assign(document.createElement("input"), { type: "text", placeholder: "Search memory or jump to a view", autocomplete: "off" });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-expanded", "true");
    input.setAttribute("aria-controls", "palette-list");
    input.setAttribute("aria-label", "Search memory or go to a page");
    const heading = document.createElement("h2");
    const list = Object.assign(document.createElement("ul"), { id: "palette-list" });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Pages and notes");
    dialog.append(input, heading, list);
    document.body.append(dialog);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => { input.value = ""; });
    let waiting = 0, asked = 0;
    const pages = () => [...$$(".side .group:not(:last-of-type) a"), $(".side .new")].map((a) => ({ text: a.firstChild.textContent.trim(), path: a.getAttribute("href"), side: "" }));
    const show = (title, all) => {
      heading.textContent = title;
      list.replaceChildren(...all.map((one, i) => {
        const row = document.createElement("li");
        row.id = "palette-" + i;
        row.setAttribute("role", "option");
        row.setAttribute("aria-selected", String(i === 0));
        const text = Object.assign(document.createElement("span"), { textContent: one.text });
        const side = Object.assign(document.createElement("span"), { textContent: one.side, className: "n" });
        row.append(text, side);
        row.dataset.path = one.path;
        row.addEventListener("click", () => { location.href = one.path; });
        return row;
      }));
      input.setAttribute("aria-activedescendant", all.length ? "palette-0" : "");
    };
    const look = async () => {
      const words = input.value.trim();
      const mine = ++asked;
      const fit = pages().filter((p) => p.text.toLowerCase().includes(words.toLowerCase()));
      if (!words) { show("Go to", pages()); return; }
      heading.textContent = "Searching…";
      const answer = await fetch("/api/notes?" + new URLSearchParams({ q: words, limit: 12 })).then((r) => r.json()).catch(() => ({}));
      if (mine !== asked) return;
      const notes = (answer.notes ?? []).map((n) => ({ text: n.title || "(untitled)", path: "/notes/" + encodeURIComponent(n.id), side: `${n.project} · ${n.type}` }));
      show(notes.length ? `${notes.length} found` : `No memory matches “${words}”`, [...fit.slice(0, 3), ...notes]);
    };
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 150); });
    input.addEventListener("keydown", (event) => {
      const rows = $$("[role=option]", list);
      const here = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
      let next = here;
      if (event.key === "ArrowDown") next = Math.min(rows.length - 1, here + 1);
      else if (event.key === "ArrowUp") next = Math.max(0, here - 1);
      else if (event.key === "Enter") { event.preventDefault(); if (rows[here]) location.href = rows[here].dataset.path; return; }
      else return;
      event.preventDefault();
      rows[here]?.setAttribute("aria-selected", "false");
      rows[next]?.setAttribute("aria-selected", "true");
      rows[next]?.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", rows[next]?.id ?? "");
    });
    dialog.look = look;
  }
  if (dialog.open) { dialog.close(); return; }
  dialog.look();
  dialog.showModal();
}
$(".find input")?.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); palette(); } });

// The preview of a note that is being written.
const editor = $("[data-editor]");
let dirty = Boolean(editor?.hasAttribute("data-unsaved")); // a preview, or what could not be saved
if (editor) {
  let asked = 0; // only the answer to the last question counts
  const line = async (mine) => {
    const form = new FormData(editor);
    form.set("action", "preview");
    const answer = await fetch(editor.getAttribute("action"), { method: "POST", body: new URLSearchParams(form) });
    if (!answer.ok) return;
    const now = $("#line", parse(await answer.text()));
    if (now && mine === asked) $("#line").replaceWith(now);
  };
  editor.addEventListener("input", () => {
    dirty = true;
    const mine = ++asked;
    setTimeout(() => { if (mine === asked) line(mine).catch(() => {}); }, 300);
  });
  editor.addEventListener("submit", () => { dirty = false; });
  addEventListener("beforeunload", (event) => { if (dirty) event.preventDefault(); });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); $("button[value=save]", editor).click(); }
  });
}

// Being informed that something changed. The page is not touched while somebody types in it.
let stream, behind = false, leaving = false;
addEventListener("submit", () => { leaving = true; setTimeout(() => { leaving = false; }, 5000); });
function refresh() {
  if (leaving) return; // the page after this one is new anyway
  const busy = document.activeElement?.closest?.("main input, main textarea, main select") || dirty || dialog?.open || $("[data-keep]");
  if (busy) { behind = true; return; }
  behind = false;
  const here = location.pathname + location.search;
  replace(here.replace(/([?&])done=\d+&?/, "$1"), "#main").catch(() => {});
}
function listen() {
  if (stream || document.hidden) return;
  stream = new EventSource("/events");
  stream.addEventListener("open", () => { away(false); if ($("[data-job] progress")) refresh(); }); // it may have ended before we listened
  stream.addEventListener("error", () => away(stream?.readyState !== EventSource.OPEN));
  stream.addEventListener("change", refresh);
  stream.addEventListener("job", (event) => dispatchEvent(new CustomEvent("job", { detail: JSON.parse(event.data) })));
}
addEventListener("visibilitychange", () => {
  if (document.hidden) { stream?.close(); stream = undefined; } else { listen(); refresh(); }
});
addEventListener("focusout", () => { if (behind) setTimeout(() => { if (behind) refresh(); }, 300); });
addEventListener("job", (event) => {
  const job = event.detail;
  for (const box of $$(`[data-job="${CSS.escape(job.name)}"]`)) {
    const bar = $("progress", box), text = $("[data-what]", box);
    if (bar && job.total) { bar.max = job.total; bar.value = job.done; }
    if (text) text.textContent = job.what ? `${job.what} ${job.done || ""}` : "";
  }
  if (!job.ended.startsWith("0001")) refresh(); // it is over
});
listen();

// Earlier versions left a worker in the browser, which shows a page of theirs when nobody answers.
navigator.serviceWorker?.getRegistrations().then((all) => all.forEach((one) => one.unregister())).catch(() => {});
