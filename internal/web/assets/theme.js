// Runs before the page is shown, so that it does not change its colours under the eye.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the system's choice stands */ }
document.documentElement.classList.add("js");
