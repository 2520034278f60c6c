// Makes the packages of npm from what goreleaser built: node npm/build.mjs DIST OUT. One
// package for each system holds the program; anamnesis-memory holds a launcher, and names
// them as optional dependencies, of which npm installs the one that fits.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [dist, out] = process.argv.slice(2);
const { version, date } = JSON.parse(readFileSync(join(dist, "metadata.json"), "utf8"));
const systems = { linux: "linux", darwin: "darwin", windows: "win32" };
const processors = { amd64: "x64", arm64: "arm64" };

// write makes the folder of a package; files are pairs of a source and a name, programs executable.
function write(manifest, files) {
  const dir = join(out, manifest.name);
  for (const [source, name, mode] of files) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    copyFileSync(source, join(dir, name));
    chmodSync(join(dir, name), mode);
  }
  writeFileSync(join(dir, "package.json"), JSON.stringify({ ...manifest, version, license: "Apache-2.0" }, null, 2) + "\n");
}

const licences = [[join(here, "../LICENSE"), "LICENSE", 0o644], [join(here, "../docs/licenses.md"), "licenses.md", 0o644]];
const optional = {};
for (const a of JSON.parse(readFileSync(join(dist, "artifacts.json"), "utf8"))) {
  if (a.type !== "Binary") continue;
  const os = systems[a.goos], cpu = processors[a.goarch];
  const name = `anamnesis-memory-${os}-${cpu}`;
  optional[name] = version;
  write({ name, description: `The program of anamnesis-memory for ${os} on ${cpu}.`, os: [os], cpu: [cpu], files: ["bin", "licenses.md"] },
    [[join(dist, "..", a.path), `bin/${a.name}`, 0o755], ...licences]);
}
if (Object.keys(optional).length !== 6) throw new Error(`${Object.keys(optional)}: six systems were expected`);
write({
  name: "anamnesis-memory",
  description: "Long-term memory for coding agents. `npx anamnesis-memory init` connects the agents of this machine.",
  bin: { "anamnesis-memory": "launch.js", anamnesis: "launch.js" },
  files: ["launch.js"],
  engines: { node: ">=18" },
  optionalDependencies: optional,
}, [[join(here, "launch.js"), "launch.js", 0o755], [join(here, "README.md"), "README.md", 0o644], ...licences.slice(0, 1)]);
console.log(`${out}: ${Object.keys(optional).length + 1} packages of ${version}, ${date}`);
