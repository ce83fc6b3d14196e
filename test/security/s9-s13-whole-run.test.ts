// @module-tag all
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderRunEvent } from '../../src/cli/render/run-lines.ts';
import { runEventSchema } from '../../src/model/run-event.ts';
import { formsOf } from '../../src/model/redaction/secret-values.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../runs/run-script.ts';
import { openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { tokenSamples } from './tokens.ts';
import { readKept } from '../support/kept-file.ts';
import { stateOf } from '../support/state.ts';

/** One run whose agents and checks say all that must not be written down or shown as it is. */
const SECRET = 'k4n4r13n/"vogel"+7%2F';
const TOKEN = tokenSamples()['github token']?.token ?? '';
const ROCKET =
  '\u001b]0;title\u0007\u001b[2J\u009b31m\u0007\u0008\u0000\r\u202e\u2066\u200b\ufeff\u{e0041}\u007f\u0085\u2028';
const LOUD = `${SECRET} ${TOKEN} ${ROCKET} | <script> ${Buffer.from(`x${SECRET}y`).toString('base64')} ${encodeURIComponent(SECRET)}`;
const SETTINGS = `
agents:
  - { name: pia, role: planner, runtime: scripted, access: read-only }
  - { name: bob, role: builder, runtime: scripted }
  - { name: rex, role: reviewer, runtime: scripted, access: read-only }
runtimes:
  scripted: { env: [SQUAD_TEST_CANARY], config: { script: SCRIPT } }
setup:
  - run: cat LOUD
verify:
  - run: cat LOUD
`;

let room: EngineRoom;
let finished: Finished;
let listening: string[];
const shown: Record<string, Finished> = {};

beforeAll(async () => {
  room = openEngineRoom({
    'objective.md': objective({ title: `Loud ${ROCKET.replaceAll(/[\r\n\u0000\u0085\u2028]/g, '')} things` }),
  });
  const script = room.script({
    turns: [
      plan([piece('one', { title: `Title ${LOUD}`, brief: `Brief ${LOUD}`, acceptance: [`there ${LOUD}`] })]),
      author('one', [
        { say: `says {env:SQUAD_TEST_CANARY} ${LOUD}` },
        { think: LOUD },
        {
          run: [
            '/bin/sh',
            '-c',
            'printf "%s" "$SQUAD_TEST_CANARY"; printf "%s" "$SQUAD_TEST_CANARY" | base64; sleep 1',
          ],
        },
        { deny: LOUD },
        { retry: { kind: 'overloaded', message: LOUD } },
        { stderr: LOUD },
        ...commits({ 'one.txt': 'one\n' }).slice(0, -1),
        { answer: `done {env:SQUAD_TEST_CANARY} ${LOUD}` },
      ]),
      {
        ...APPROVE_ALL,
        steps: [{ say: LOUD }, { stderr: LOUD }],
        structured: { approved: true, summary: LOUD, findings: [] },
      },
    ],
  });
  const environment = { SQUAD_TEST_CANARY: SECRET };
  const settings = SETTINGS.replace('SCRIPT', script).replaceAll('LOUD', join(room.root, 'loud'));
  writeFileSync(join(room.root, 'loud'), LOUD);
  writeFileSync(join(room.repository, 'squad.yaml'), settings);
  const engine = room.start(['run', 'objective.md', '--yes', '--json'], environment);
  await engine.line(({ type, tool }) => type === 'tool-started' && tool === 'run');
  listening = socketsOf(engine.child.pid ?? 0);
  finished = await engine.finished;
  for (const args of ['status', 'log', 'log --raw', 'log --json', 'show', 'diff', 'runs', 'report']) {
    shown[args] = await room.run(args.split(' '), environment);
  }
});
afterAll(() => room.close());

describe('S9: a whole run', () => {
  it('S9: comes to its end', () => {
    expect(finished.stderr).toBe('');
    expect(finished.code).toBe(0);
    for (const { code, stderr } of Object.values(shown)) expect([code, stderr]).toEqual([0, '']);
  });

  it('S9: its raw output, which is kept as it is, holds the secret', () => {
    const turns = files(join(stateOf(room.repository), 'turns'));
    expect(turns.some((path) => leaksOf(readKept(path)).length > 0)).toBe(true);
  });

  it('S9: nothing else of the workspace does: ledger, checkpoints, logs of them, reports', () => {
    const kept = files(stateOf(room.repository)).filter(
      (path) => !path.startsWith(join(stateOf(room.repository), 'turns')),
    );
    expect(kept.map((path) => path.split('/').at(-1))).toEqual(
      expect.arrayContaining(['squad.db', 'checkpoints.db', 'report.md', 'report.html']),
    );
    expect(kept.filter((path) => leaksOf(readKept(path)).length > 0)).toEqual([]);
  });

  it('S9: nothing that is printed does', () => {
    expect(leaksOf(finished.stdout)).toEqual([]);
    for (const [args, { stdout }] of Object.entries(shown)) expect(leaksOf(stdout), args).toEqual([]);
    expect(finished.stdout).toContain('[redacted]');
  });
});

describe('S11: a whole run', () => {
  it('S11: leaves nothing that others can read', () => {
    const root = stateOf(room.repository);
    const all = ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })].map((name) => join(root, name));
    const open = all.filter((path) => (statSync(path).mode & 0o077) !== 0);
    expect(open).toEqual([]);
    expect(all.length).toBeGreaterThan(20);
  });
});

describe('S12: a whole run', () => {
  it('S12: listens on nothing', () => {
    expect(listening).toEqual([]);
  });
});

describe('S13: a whole run', () => {
  it('S13: no command prints a control character, and none is in the report', () => {
    const report = files(stateOf(room.repository)).find((path) => path.endsWith('report.md')) ?? '';
    const texts = {
      ...Object.fromEntries(Object.entries(shown).map(([args, { stdout }]) => [args, stdout])),
      run: finished.stdout,
      file: readFileSync(report, 'utf8'),
    };
    for (const [name, text] of Object.entries(texts)) {
      expect(
        text
          .replaceAll(
            name.includes('json') || name === 'run'
              ? /[\u2028\u202e\u2066\u200b\ufeff\u{e0041}\u007f\u0085\u009b]/gu
              : /(?!)/g,
            '',
          )
          .match(CONTROL),
        name,
      ).toBeNull();
    }
  });

  it('S13: no line for people holds one, whatever the event', () => {
    const lines = finished.lines.flatMap((line) => {
      const event = runEventSchema.safeParse(line);
      return event.success ? [renderRunEvent(event.data) ?? ''] : [];
    });
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
  });
});

/** Not tab and newline; JSON escapes what is below U+0020, and hands the rest on as data. */
const CONTROL = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function leaksOf(text: string): string[] {
  return [...formsOf(SECRET), TOKEN].filter((form) => text.includes(form));
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Sockets of a process and all it started that wait for others: TCP that listens, UDP that is bound, named Unix ones. */
function socketsOf(pid: number): string[] {
  const own = new Set(family(pid).flatMap(inodesOf));
  const table = (name: string) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  const tcp = ['tcp', 'tcp6'].flatMap((name) => table(name).filter((row) => row[3] === '0A' && own.has(row[9] ?? '')));
  const udp = ['udp', 'udp6', 'raw', 'raw6'].flatMap((name) => table(name).filter((row) => own.has(row[9] ?? '')));
  const unix = table('unix').filter(
    (row) => own.has(row[6] ?? '') && (Number.parseInt(row[3] ?? '0', 16) & 0x10000) !== 0,
  );
  return [...tcp, ...udp, ...unix].map((row) => row.join(' '));
}

function family(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  return [pid, ...children.flatMap((name) => family(Number(name)))];
}

function parentOf(name: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]);
  } catch {
    return -1;
  }
}

function inodesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    );
  } catch {
    return [];
  }
}
