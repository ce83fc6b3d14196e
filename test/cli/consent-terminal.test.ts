import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { ALL } from '../support/lane.ts';

const python = spawnSync('python3', ['-c', 'import pty, select']).status === 0;

/** Runs a command at a terminal of 80 × 24 and sends a key whenever it asks. Prints each screen's question and the whole text as JSON. */
const DRIVER = `
import fcntl, json, os, pty, select, struct, sys, termios, time
keys, *command = json.loads(sys.argv[1]), *json.loads(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    time.sleep(0.2)
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
text, seen, asked, until = '', 0, [], time.time() + 60
while time.time() < until:
    if select.select([fd], [], [], 0.2)[0]:
        try: data = os.read(fd, 65536)
        except OSError: break
        if not data: break
        text += data.decode('utf8', 'replace')
    new = text[seen:]
    for question in ('ends -- ', '[y/N] ', '[Y/n] '):
        if question in new:
            asked.append(new)
            seen = len(text)
            key = keys['page'] if question == 'ends -- ' else keys['end']
            os.write(fd, key.encode())
            break
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
print(json.dumps({'asked': asked, 'text': text, 'code': os.waitstatus_to_exitcode(status)}))
`;

let room: EngineRoom;
beforeEach(() => {
  room = openEngineRoom();
});
afterEach(() => room.close());

function drive(root: string, repository: string, words: readonly string[], keys: { page: string; end: string }) {
  const command = [process.execPath, CLI_ENTRY, ...words];
  const done = spawnSync('python3', ['-c', DRIVER, JSON.stringify(keys), JSON.stringify(command)], {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state'), TERM: 'xterm', LANG: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 90_000,
  });
  return JSON.parse(done.stdout) as { asked: string[]; text: string; code: number };
}

function atTerminal(commands: readonly string[], keys: { page: string; end: string }) {
  const script = room.script({ turns: [] });
  const settings = {
    version: 1,
    runtimes: { scripted: { config: { script } } },
    verify: commands.map((run) => ({ run })),
  };
  writeFileSync(join(room.repository, 'squad.yaml'), JSON.stringify(settings));
  const text = '# Objective: X\n\n## Goals\n\n1. x\n\n## Success criteria\n\n- [ ] ok\n';
  writeFileSync(join(room.repository, 'objective.md'), text);
  return drive(room.root, room.repository, ['run', 'objective.md', '--runtime', 'scripted', '--plain'], keys);
}

describe.skipIf(!python)('consent at a terminal (needs python3)', () => {
  const MANY = [...Array.from({ length: 49 }, (_, index) => `true ${index}`), `echo ${'a'.repeat(4000)}; touch PWN`];

  it('shows every page before it asks, and takes only a yes', () => {
    const { asked, text, code } = atTerminal(MANY, { page: '\r', end: 'n\r' });
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.slice(0, -1).every((page) => page.includes('Enter shows the next page'))).toBe(true);
    for (const page of asked) expect(page.split('\n').length).toBeLessThanOrEqual(25);
    for (const run of MANY.slice(0, -1)) expect(text).toContain(`verify: ${run}\r`);
    expect(text.indexOf('touch PWN')).toBeLessThan(text.indexOf('[y/N]'));
    expect(
      text
        .split('[y/N]')[0]
        ?.match(/a{20,}/g)
        ?.join('').length,
    ).toBeGreaterThanOrEqual(3_900);
    expect(code).toBe(78);
  });

  it.each([
    ['q', 'q\r'],
    ['the end of the input', '\u0004'],
  ])('ends with %s on any page, and asks nothing more', (_title, page) => {
    const { asked, text, code } = atTerminal(MANY, { page, end: 'y\r' });
    expect(asked).toHaveLength(1);
    expect(text).not.toContain('[y/N]');
    expect(code).toBe(78);
  });

  it('takes the end of the input for a no', () => {
    const { text, code } = atTerminal(['true'], { page: '\r', end: '\u0004' });
    expect(text).toContain('[y/N]');
    expect(code).toBe(78);
  });
});

describe.skipIf(!python)('an answer at a terminal (needs python3)', () => {
  it.each<[string, string, RegExp, string | undefined]>([
    ['Enter', '\r', /Resume make-things now\? \[Y\/n\] [^]*DONE, all work/, 'a'],
    ['no', 'n\r', /Resume make-things now\? \[Y\/n\] n\s+Next: squad resume make-things\s+$/, undefined],
  ])('continues the run there after %s, or says how', { ...ALL, timeout: 180_000 }, async (_, end, expected, file) => {
    const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
    const bench = openRunBench({ script });
    try {
      await bench.run(['plan', 'objective.md', '--runtime', 'scripted', '--yes']);
      const answered = drive(bench.root, bench.repository, ['answer', 'approve'], { page: '', end });
      expect(answered.text).toMatch(/answered {2}plan-1: approve/);
      expect(answered.text.replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '')).toMatch(expected);
      expect(answered.code).toBe(0);
      expect(bench.fileOnBranch('a.txt')).toBe(file);
    } finally {
      bench.end();
    }
  });
});
