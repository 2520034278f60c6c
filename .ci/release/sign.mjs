// Writes how the files of a release were made, as an in-toto statement with SLSA's
// predicate, and signs it and the checksums: node sign.mjs DIST, in the checkout that was
// built, when goreleaser is done (it writes its checksums again while it signs).
//
// It is a statement of the one who built: nothing but the signature beside it, made with
// the key of releases, says that it is true. By SLSA's levels that is build level 1.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [dist] = process.argv.slice(2);
const checksums = `${dist}/checksums.txt`, statement = `${dist}/provenance.intoto.json`;
const run = (...line) => execFileSync(line[0], line.slice(1), { encoding: "utf8" }).trim();
const commit = run("git", "rev-parse", "HEAD");
const subject = readFileSync(checksums, "utf8").trim().split("\n").map((line) => {
  const [sha256, name] = line.split("  ");
  return { name, digest: { sha256 } };
});
const releases = process.env.RELEASES || "https://anamnesis.invalid";
writeFileSync(statement, JSON.stringify({
  _type: "https://in-toto.io/Statement/v1",
  subject,
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: `${releases}/goreleaser`,
      externalParameters: { config: ".goreleaser.yaml", releases: process.env.RELEASES, releaseKey: process.env.RELEASE_KEY },
      internalParameters: { go: run("go", "env", "GOVERSION"), goreleaser: process.env.GORELEASER_VERSION },
      resolvedDependencies: [{ uri: "git+anamnesis", digest: { gitCommit: commit } }],
    },
    runDetails: { builder: { id: `${releases}/whoever-holds-the-key` } },
  },
}, null, 1) + "\n");
for (const [file, what] of [[checksums, "checksums"], [statement, "provenance"]]) {
  run("minisign", "-S", "-l", "-s", process.env.MINISIGN_KEY, "-t", `${what} of ${commit}`,
    "-c", `signature of the ${what} of anamnesis`, "-m", file, "-x", `${file}.minisig`);
}
