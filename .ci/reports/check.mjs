// Reads the reports with what npm has: Microsoft's SARIF validator and its hash of a line, reviewdog's format
// as a validator knows it, Code Climate's types, the toolkits of GitHub Actions and Azure Pipelines, and
// another writer of Checkstyle's XML. The JSON report says what has to come out.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const tools = dirname(fileURLToPath(import.meta.url));
const reports = resolve(process.argv[2]);
const path = (run, name) => join(reports, `${run}-${name}`);
const text = (run, name) => readFileSync(path(run, name), "utf8");
const json = (run, name) => JSON.parse(text(run, name));
const lines = (run, name) => text(run, name).split("\n").filter(Boolean);
const findings = (run) => json(run, "json.json").findings;
const scratch = (name) => join(tools, name);

const multitool = join(tools, "node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
chmodSync(multitool, 0o755);

function validator(run) {
  const log = scratch("validated.sarif");
  rmSync(log, { force: true });
  const options = ["--level", "Error;Warning", "--rule-kind", "Sarif;Ghas", "--output", log];
  execFileSync(multitool, ["validate", path(run, "sarif.sarif"), ...options], { stdio: "inherit" });
  const [validated] = JSON.parse(readFileSync(log, "utf8")).runs;
  assert.deepEqual(validated.results ?? [], []);
  assert.ok(validated.invocations.every((one) => one.executionSuccessful));
}

// Microsoft's hash takes a byte order mark away, GitHub's does not: such files are left out here.
function lineHashes(run) {
  const ours = json(run, "sarif.sarif");
  const bare = structuredClone(ours);
  const sources = pathToFileURL(join(reports, "sources/")).href;
  bare.runs[0].originalUriBaseIds = { "%SRCROOT%": { uri: sources } };
  for (const result of bare.runs[0].results) delete result.partialFingerprints;
  writeFileSync(scratch("bare.sarif"), JSON.stringify(bare));
  const options = ["--insert", "RollingHashPartialFingerprints", "--log", "ForceOverwrite"];
  const output = scratch("rolled.sarif");
  execFileSync(multitool, ["rewrite", scratch("bare.sarif"), ...options, "--output", output]);
  const rolled = JSON.parse(readFileSync(output, "utf8"));
  let compared = 0;
  ours.runs[0].results.forEach((result, at) => {
    const { uri } = result.locations[0].physicalLocation.artifactLocation;
    const source = readFileSync(join(reports, "sources", decodeURIComponent(uri)), "utf8");
    if (source.startsWith("\ufeff")) return;
    const hash = (one) => one.partialFingerprints.primaryLocationLineHash;
    assert.equal(hash(result), hash(rolled.runs[0].results[at]));
    compared += 1;
  });
  assert.ok(compared > 0 || findings(run).length === 0);
}

function rdjson(run) {
  const command = join(tools, "node_modules/@umbrelladocs/rdformat-validator/bin/rdformat-validator.js");
  const validate = (input) => {
    const options = ["--strict", "--no-extra-fields", "--format", "json"];
    const found = spawnSync(process.execPath, [command, ...options], { input, encoding: "utf8" });
    assert.equal(found.status, 0, found.stdout + found.stderr);
  };
  validate(text(run, "rdjson.json"));
  const single = lines(run, "rdjsonl.jsonl");
  single.forEach(validate);
  assert.equal(single.length, findings(run).length);
}

// Three reports count columns in three units. What lies between them in the sources has to be the same.
function columns(run) {
  const lines = (text) => text.split(/(?<=\n)/);
  const part = (all, start, end, join) => {
    const within = all.slice(start[0] - 1, end[0]);
    within[within.length - 1] = within.at(-1).slice(0, end[1] - 1);
    within[0] = within[0].slice(start[1] - 1);
    return join(within);
  };
  const { results } = json(run, "sarif.sarif").runs[0];
  const { diagnostics } = json(run, "rdjson.json");
  findings(run).forEach((one, at) => {
    const source = readFileSync(join(reports, "sources", one.path));
    const text = source.toString();
    const marked = text.startsWith("\ufeff") ? text.slice(1) : text;
    const characters = part(
      lines(marked).map((line) => [...line]), [one.line, one.column], [one.end_line, one.end_column],
      (within) => within.flat().join(""));
    const { startLine, startColumn, endLine, endColumn } =
      results[at].locations[0].physicalLocation.region;
    const units = part(lines(marked), [startLine, startColumn], [endLine, endColumn],
      (within) => within.join(""));
    const { start, end } = diagnostics[at].location.range;
    const bytes = part(
      lines(text).map((line) => Buffer.from(line)), [start.line, start.column], [end.line, end.column],
      (within) => Buffer.concat(within).toString());
    assert.ok(characters.length > 0);
    assert.deepEqual([units, bytes], [characters, characters]);
  });
}

function gitlab(run) {
  const file = scratch("issues.ts");
  const issues = text(run, "gitlab.json");
  writeFileSync(file, `import type { Issue } from "codeclimate-types"\nexport const issues: Issue[] = ${issues}`);
  const compiler = join(tools, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext"];
  const checked = spawnSync(process.execPath, [compiler, ...options, file], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stdout);
  // What GitLab's documentation asks for beyond that.
  const all = JSON.parse(issues);
  assert.equal(new Set(all.map((one) => one.fingerprint)).size, all.length);
  all.forEach((one, at) => {
    assert.ok(one.description.startsWith(findings(run)[at].rule));
    assert.equal(one.location.path, findings(run)[at].path);
    assert.ok(Number.isInteger(one.location.lines.begin) && one.location.lines.begin > 0);
  });
}

async function github(run) {
  const core = await import("@actions/core");
  const plain = (value) =>
    [["%3A", ":"], ["%2C", ","], ["%0D", "\r"], ["%0A", "\n"], ["%25", "%"]].reduce(
      (done, [from, to]) => done.replaceAll(from, to), value);
  const levels = { error: core.error, warning: core.warning, notice: core.notice };
  const written = lines(run, "github.txt");
  const found = written.map((line) => {
    const [, level, listed, message] = /^::(\w+) (.*?)::(.*)$/.exec(line);
    const fields = Object.fromEntries(listed.split(",").map((field) => {
      const [key, ...value] = field.split("=");
      return [key, plain(value.join("="))];
    }));
    const { title, file, line: startLine, endLine, col: startColumn, endColumn } = fields;
    const again = captured(() =>
      levels[level](plain(message), { title, file, startLine, endLine, startColumn, endColumn }));
    assert.equal(again, line);
    assert.ok(startLine === endLine || startColumn === undefined, "columns over several lines");
    return [file, Number(startLine), title];
  });
  const ranks = ["error", "warning", "note"];
  const ordered = findings(run).sort((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity));
  assert.deepEqual(found, ordered.map((one) => [one.path, one.line, `leaselint: ${one.rule}`]));
}

// What a function writes to the standard output, without the last line end.
function captured(action) {
  const { write } = process.stdout;
  let all = "";
  process.stdout.write = (part) => (all += part, true);
  try { action(); } finally { process.stdout.write = write; }
  return all.trimEnd();
}

function azure(run) {
  const { commandFromString } = require("azure-pipelines-task-lib/taskcommand");
  const found = lines(run, "azure.txt").map((line) => {
    const command = commandFromString(line);
    assert.equal(command.command, "task.logissue");
    assert.equal(command.toString(), line);
    const { sourcepath, linenumber, columnnumber, code } = command.properties;
    return [sourcepath, Number(linenumber), Number(columnnumber), code];
  });
  assert.deepEqual(found, findings(run).map((one) => [one.path, one.line, one.column, one.rule]));
}

// Another writer has to come to the same tree of elements and attributes.
async function checkstyle(run) {
  const { parse } = await import("junit2json").catch(() => ({}));
  assert.ok(parse, "junit2json is there");
  const formatter = require("checkstyle-formatter");
  const attributes = (xml) =>
    [...xml.matchAll(/<(file|error)\b([^>]*?)\/?>/g)].map(([, name, rest]) => [
      name,
      Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, unescaped(value)])),
    ]);
  const ours = attributes(text(run, "checkstyle.xml"));
  const files = [];
  for (const [name, values] of ours) {
    if (name === "file") files.push({ filename: values.name, messages: [] });
    else files.at(-1).messages.push({ ...values });
  }
  assert.deepEqual(attributes(formatter(files)), ours);
  const suites = await parse(text(run, "junit.xml"));
  const cases = suites.testsuite.flatMap((suite) => suite.testcase);
  assert.equal(cases.filter((one) => one.failure).length, findings(run).length);
}

function unescaped(value) {
  const names = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  return value.replace(/&(#x?[0-9a-f]+|\w+);/gi, (_, name) =>
    names[name] ?? String.fromCodePoint(Number(name.replace("#x", "0x").replace("#", ""))));
}

for (const run of ["found", "clean"]) {
  for (const check of [validator, lineHashes, rdjson, columns, gitlab, github, azure, checkstyle]) {
    await check(run);
    console.log(`${run}: ${check.name} is as others read it`);
  }
}
