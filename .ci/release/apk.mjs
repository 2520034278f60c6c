// Unpacks a package of Alpine's apk (version 2) into a folder, and checks it: node apk.mjs
// PACKAGE FOLDER.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { inflateRawSync, constants } from "node:zlib";

const [file, folder] = process.argv.slice(2);
const all = readFileSync(file);

// streams cuts where one stream of gzip ends: its header has ten bytes here, its end eight.
const streams = [];
for (let at = 0; at < all.length;) {
  if (all.readUInt16BE(at) !== 0x1f8b || all[at + 3] !== 0) throw new Error(`no plain stream of gzip at ${at}`);
  const { engine } = inflateRawSync(all.subarray(at + 10), { info: true, finishFlush: constants.Z_SYNC_FLUSH });
  const end = at + 10 + engine.bytesWritten + 8;
  streams.push(all.subarray(at, end));
  at = end;
}
for (const stream of streams) {
  execFileSync("tar", ["-xzf", "-", "-C", folder, "--ignore-zeros", "--warning=no-unknown-keyword"], { input: stream, maxBuffer: 1 << 28 });
}
const info = readFileSync(`${folder}/.PKGINFO`, "utf8");
const datahash = info.match(/^datahash = ([0-9a-f]{64})$/m)[1];
const got = createHash("sha256").update(streams.at(-1)).digest("hex");
if (streams.length < 2 || got !== datahash) throw new Error(`datahash is ${datahash}, the data's is ${got}`);
if (!/^pkgname = anamnesis$/m.test(info)) throw new Error(info);
