#!/usr/bin/env node
// Runs the program for this system, which an optional dependency brings.
"use strict";

const { spawnSync } = require("node:child_process");

const name = `anamnesis-memory-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "anamnesis.exe" : "anamnesis";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`anamnesis: the package ${name} is not installed. Either there is no program for this system, or optional ` +
    "packages are left out (npm install --omit=optional, or a lock file of another system): install again without that.");
  process.exit(1);
}
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
if (done.error) {
  console.error(`anamnesis: ${program} cannot be started: ${done.error.message}`);
  process.exit(1);
}
if (done.signal) {
  process.kill(process.pid, done.signal);
}
process.exit(done.status ?? 1);
