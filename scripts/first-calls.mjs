// Prints the first call between each two rooms of src in a run of three scripted turns, in their order: `node scripts/first-calls.mjs`.
// `^`: a climb to a higher room; `<`: a return to a room that was entered before. `text` and `model` do not count.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const OBJECTIVE =
  '# Objective: Greet\n\n## Goals\n\n1. Greet\n\n## Success criteria\n\n- [ ] It is there (run: `test -f greet.txt`)\n';
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** Each function of the file notes that it is called. */
function withNotes(file, text) {
  const code = stripTypeScriptTypes(text);
  const inserts = [];
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (FUNCTION.test(node.type)) {
      const { start, end, type, body = [] } = node.body;
      const call = `globalThis.noteCall?.(${JSON.stringify(file)},${node.start})`;
      if (type !== 'BlockStatement') inserts.push([start, `(${call},`], [end, ')']);
      else inserts.push([body.findLast(({ directive }) => directive)?.end ?? start + 1, `;${call};`]);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code));
  // Where one body ends and no other begins, the inner parenthesis closes first.
  const ordered = inserts.toSorted(([a], [b]) => b - a);
  return ordered.reduce((all, [at, added]) => all.slice(0, at) + added + all.slice(at), code);
}

/** Loaded into the process of the run: a call's file, with that of its caller. */
const NOTES = `import { writeFileSync } from 'node:fs';
const [seen, calls] = [new Set(), []];
globalThis.noteCall = (file, at) => {
  if (seen.has(file + at)) return;
  seen.add(file + at);
  Error.stackTraceLimit = 30;
  const frames = [...new Error().stack.matchAll(/\\/src\\/([^\\s):]+\\.ts)/g)].map(([, frame]) => frame);
  calls.push([frames.find((frame) => frame !== file), file]);
};
process.on('exit', () => writeFileSync(new URL('calls-' + process.pid + '.json', import.meta.url), JSON.stringify(calls)));
`;

function makeRepository(folder) {
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: folder });
  mkdirSync(folder);
  git('init', '--quiet', '-b', 'main');
  const task = {
    id: 'greet',
    title: 'Greet',
    role: 'builder',
    needs: [],
    brief: 'Write it',
    acceptance: ['It is there'],
  };
  const commit = [
    { write: { path: 'greet.txt', text: 'hello\n' } },
    { run: ['git', 'add', '--all'] },
    { run: ['git', '-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '--message', 'Greet'] },
  ];
  const turns = [
    { when: 'Split this objective', steps: [], structured: { summary: 'one task', tasks: [task] } },
    { when: '# Review of task', steps: [], structured: { approved: true, summary: 'It is there.', findings: [] } },
    { when: '# Task', steps: [...commit, { answer: 'done' }] },
  ];
  const agents = ['planner', 'builder', 'reviewer'].map((role) => ({ name: role, role, runtime: 'scripted' }));
  const settings = { runtimes: { scripted: { config: { script: 'script.json' } } }, agents };
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ turns }));
  writeFileSync(join(folder, 'objective.md'), OBJECTIVE);
  writeFileSync(join(folder, 'squad.yaml'), JSON.stringify(settings));
  git('add', '--all');
  git('commit', '--quiet', '--message', 'base');
}

/** Each function's first call in a run of a copy of the sources. */
function callsOf(room) {
  for (const name of ['src', 'package.json']) cpSync(join(PROJECT, name), join(room, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(room, 'node_modules'));
  for (const file of readdirSync(join(room, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'))) {
    const path = join(room, 'src', file);
    writeFileSync(path, withNotes(file, readFileSync(path, 'utf8')));
  }
  const notes = join(room, 'notes.mjs');
  writeFileSync(notes, NOTES);
  const repository = join(room, 'repository');
  makeRepository(repository);
  const env = { PATH: process.env.PATH, HOME: join(room, 'home'), XDG_STATE_HOME: join(room, 'state') };
  const args = ['--import', notes, join(room, 'src/cli/main.ts'), 'run', 'objective.md', '--yes', '--plain'];
  execFileSync(process.execPath, args, { cwd: repository, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const found = readdirSync(room).filter((name) => name.startsWith('calls-'));
  return found
    .map((name) => JSON.parse(readFileSync(join(room, name), 'utf8')))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** From the bottom to the top, by the table of the architecture's test. */
const table = /const ROOMS[^]*?\n\};/.exec(readFileSync(join(PROJECT, 'test/architecture.test.ts'), 'utf8'))?.[0] ?? '';
const rooms = [...table.matchAll(/^ {2}'?([\w/]+)'?: \[/gm)].map(([, name]) => name);
const place = (file) => rooms.findIndex((name) => file.startsWith(`${name}/`));

const room = mkdtempSync(join(tmpdir(), 'first-calls-'));
try {
  const [known, entered, count] = [new Set(), new Set(), { climbs: 0, returns: 0 }];
  for (const [from, to] of callsOf(room)) {
    const [a, b] = [place(from ?? ''), place(to)];
    if (a < 0 || a === b || b <= rooms.indexOf('model') || known.has(`${a} ${b}`)) continue;
    known.add(`${a} ${b}`);
    const mark = b > a ? '^' : entered.has(b) ? '<' : ' ';
    if (mark === '^') count.climbs += 1;
    if (mark === '<') count.returns += 1;
    entered.add(b);
    console.log(mark, rooms[a], '→', rooms[b], ` ${from} → ${to}`);
  }
  console.log(`${known.size} pairs, ${count.climbs} climbs, ${count.returns} returns`);
} finally {
  rmSync(room, { recursive: true, force: true });
}
