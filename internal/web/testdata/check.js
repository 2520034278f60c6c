// Looks at a page as somebody does who cannot see it, or cannot use a mouse. Returns what is
// wrong, one sentence each.
(() => {
  const wrong = [];
  const say = (what, el) => wrong.push(what + ": " + (el ? el.outerHTML.slice(0, 140) : ""));
  const all = (query) => [...document.querySelectorAll(query)];
  const shown = (el) => el.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && el.getClientRects().length > 0;
  const textOf = (id) => document.getElementById(id)?.textContent.trim() ?? "";
  const nameOf = (el) => {
    const by = el.getAttribute("aria-labelledby");
    if (by) return by.split(/\s+/).map(textOf).join(" ").trim();
    if (el.getAttribute("aria-label")) return el.getAttribute("aria-label").trim();
    if (el.labels?.length) return [...el.labels].map((l) => l.textContent.trim()).join(" ");
    const text = el.textContent.trim() || [...el.querySelectorAll("img")].map((i) => i.alt).join("").trim();
    if (el.matches("input, select, textarea")) return el.title.trim();
    return text || el.title.trim();
  };

  if (!document.documentElement.lang) say("the page has no language");
  if (!document.title.trim()) say("the page has no title");
  if (all("main").length !== 1) say("there is not one main part");
  if (all("h1").filter(shown).length !== 1) say("there is not one first heading");
  let level = 0;
  for (const h of all("main h1, main h2, main h3, main h4, main h5, main h6").filter(shown)) {
    const now = Number(h.tagName[1]);
    if (now > level + 1 && level > 0 && !h.closest(".prose")) say("a heading skips a level", h);
    level = now;
    if (!h.textContent.trim()) say("a heading is empty", h);
  }
  const ids = new Map();
  for (const el of all("[id]")) ids.set(el.id, (ids.get(el.id) ?? 0) + 1);
  for (const [id, n] of ids) if (n > 1) say(`the id ${id} stands ${n} times`);
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant"]) {
    for (const el of all(`[${name}]`)) for (const id of el.getAttribute(name).split(/\s+/)) if (id && !document.getElementById(id)) say(`${name} names nothing`, el);
  }
  for (const el of all("label[for]")) if (!document.getElementById(el.htmlFor)) say("a label is for nothing", el);
  for (const el of all("img:not([alt])")) say("a picture has no text", el);
  for (const el of all("svg[role=img], canvas, [role=img]")) if (!nameOf(el)) say("a drawing has no name", el);
  for (const el of all("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]").filter(shown)) {
    if (el.tabIndex > 0) say("a tabindex changes the order", el);
    if (el.matches("main, .shade, pre, .scroll:not([role])")) continue; // they can be scrolled by keys
    if (!nameOf(el)) say("a control has no name", el);
  }
  const roles = new Set("search navigation main group img status alert region listbox option combobox dialog".split(" "));
  for (const el of all("[role]")) if (!roles.has(el.getAttribute("role"))) say("a role is none of ours", el);
  for (const el of all("table")) if (!el.querySelector("th") && !el.matches(".diff") && !el.closest("details")) say("a table has no heads", el);
  for (const el of all("ul, ol")) for (const child of el.children) if (child.tagName !== "LI") say("a list holds something else", child);
  for (const el of all("dl")) for (const child of el.children) if (!["DT", "DD", "DIV"].includes(child.tagName)) say("a list of terms holds something else", child);
  for (const el of all("button button, a a, a button, button a, label label")) say("a control stands in another", el);

  // Contrast: of every text that is seen, with what is painted behind it.
  const number = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { r: m[0], g: m[1], b: m[2], a: m[3] ?? 1 }; };
  const over = (f, b) => ({ r: f.r * f.a + b.r * (1 - f.a), g: f.g * f.a + b.g * (1 - f.a), b: f.b * f.a + b.b * (1 - f.a), a: 1 });
  const light = ({ r, g, b }) => [r, g, b].map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const behind = (el) => {
    const layers = [];
    for (let e = el; e; e = e.parentElement) { const c = number(getComputedStyle(e).backgroundColor); layers.push(c); if (c.a === 1) break; }
    return layers.reverse().reduce((b, f) => over(f, b), { r: 255, g: 255, b: 255, a: 1 });
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const said = new Set();
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const el = n.parentElement;
    if (!n.textContent.trim() || !el || !shown(el) || el.closest("[aria-hidden=true], option, :disabled, svg, script, style, noscript, [aria-pressed=false]")) continue;
    const style = getComputedStyle(el), back = behind(el), text = over(number(style.color), back);
    const [a, b] = [light(text), light(back)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
    const key = style.color + JSON.stringify(back);
    if (ratio < (large ? 3 : 4.5) && !said.has(key)) { said.add(key); say(`contrast ${ratio.toFixed(2)}`, el); }
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) say(`the page is ${wide} pixels too wide`);
  return wrong;
})()
