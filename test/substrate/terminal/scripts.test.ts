import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import type { TerminalPane } from '../../../src/substrate/ports/terminal.ts';
import {
  iterm2Script,
  terminalAppScript,
  createAppleTerminal,
  appleText,
  shellLine,
} from '../../../src/substrate/terminal/apple-terminal.ts';

const HOSTILE = [
  `it's "quoted" \\ twice \\\\ and 'again'`,
  '$(touch pwned) `touch pwned` ${HOME} $HOME',
  '; touch pwned & | > pwned # not a comment',
  '!history ~ =ls * ? [a] {a,b}',
  '-n --  leading and trailing ',
  '" & (do shell script "touch pwned") & "',
  '团队 ünïcode 🧑‍💻',
  '',
];

const PANE: TerminalPane = {
  title: 'team-1234abcd-MAIN',
  command: ['/usr/bin/node', '/opt/squad/bin/squad.cjs', 'team', 'pane'],
  directory: '/repositories/my project',
  environment: { TEAM_ROLE: 'MAIN' },
  stays: false,
};

const printable = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .filter((text) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text));

describe('a line of a shell', () => {
  property.prop([fc.array(printable, { minLength: 1, maxLength: 60 })], { numRuns: 40 })(
    'is read by a real shell as the words it was made of',
    (words) => {
      expect(readBy('/bin/sh', words)).toEqual(words);
    },
  );

  it('holds nothing that a shell would act on', () => {
    expect(readBy('/bin/sh', HOSTILE)).toEqual(HOSTILE);
  });
});

describe('AppleScript', () => {
  property.prop([printable], { numRuns: 500 })('gets a text that it reads back as it was', (text) => {
    expect(appleTexts(appleText(text))).toEqual([text]);
  });

  it('opens a window of Terminal.app for each pane, by one statement a line', () => {
    expect(terminalAppScript([PANE, { ...PANE, title: `say "hi" \\ it's` }])).toBe(
      [
        'tell application "Terminal"',
        '\tactivate',
        `\tset squadTab to do script "exec /bin/sh -c 'cd \\"$1\\" && shift && exec \\"$@\\"' squad '/repositories/my project' /usr/bin/env 'TEAM_ROLE=MAIN' /usr/bin/node /opt/squad/bin/squad.cjs team pane"`,
        '\tset custom title of squadTab to "team-1234abcd-MAIN"',
        `\tset squadTab to do script "exec /bin/sh -c 'cd \\"$1\\" && shift && exec \\"$@\\"' squad '/repositories/my project' /usr/bin/env 'TEAM_ROLE=MAIN' /usr/bin/node /opt/squad/bin/squad.cjs team pane"`,
        `\tset custom title of squadTab to "say \\"hi\\" \\\\ it's"`,
        'end tell',
        '',
      ].join('\n'),
    );
  });

  it('opens a window of iTerm2 with the program in it', () => {
    const [first, second, third] = iterm2Script([PANE]).split('\n').slice(1);
    expect(first).toBe('\tactivate');
    expect(second).toMatch(/^\tset squadWindow to \(create window with default profile command "\/bin\/sh -c '/);
    expect(third).toBe('\ttell current session of squadWindow to set name to "team-1234abcd-MAIN"');
  });

  it.each([
    ['Terminal.app', terminalAppScript],
    ['iTerm2', iterm2Script],
  ])('has %s run what was asked, in its folder, with its variables, whatever their names', (_name, scriptOf) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-terminal-')));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const directory = join(root, `a "b" 'c' $(touch pwned) \\ #(x)`);
    mkdirSync(directory);
    const show = 'process.stdout.write(JSON.stringify([process.cwd(), process.env.TEAM_ROLE, process.argv.slice(1)]))';
    const pane = {
      ...PANE,
      directory,
      environment: { TEAM_ROLE: `M'A"I$(touch pwned)N` },
      command: [process.execPath, '-e', show, '--', ...HOSTILE],
    };
    const [line = ''] = appleTexts(scriptOf([pane])).filter((text) => text.includes('exec'));
    const said: unknown = JSON.parse(execFileSync('/bin/sh', ['-c', line], { cwd: root, encoding: 'utf8' }));
    expect(said).toEqual([directory, pane.environment.TEAM_ROLE, HOSTILE]);
  });

  it.each(['a\nb', 'a\rb', 'a\u0000b', 'a\u001bb', 'a\u2028b', 'a\ud800b'])(
    'is not made of %j, which would end a line of it',
    (text) => {
      const titled = () => terminalAppScript([{ ...PANE, title: text }]);
      const named = () => iterm2Script([{ ...PANE, directory: text }]);
      for (const make of [titled, named]) expect(codeOf(make)).toBe('bad-input');
    },
  );

  it('is refused elsewhere than on macOS, with what to do', async () => {
    const processes = { run: () => Promise.reject(new Error('nothing must run')) };
    const terminal = createAppleTerminal({ processes, environment: {}, platform: 'linux' }, 'iTerm2', iterm2Script);
    expect(await terminal.check()).toEqual({
      ok: false,
      why: 'iTerm2 exists on macOS only',
      next: 'Use tmux: `squad team --terminal tmux`.',
    });
  });
});

/** The words as a program gets them. */
function readBy(shell: string, words: readonly string[]): string[] {
  const line = shellLine(['/usr/bin/printf', '%s\\0', ...words]);
  return execFileSync(shell, ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** The texts of a script, read as AppleScript reads them. */
function appleTexts(script: string): string[] {
  return [...script.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/gu, '$1'));
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return isSquadError(error) ? error.code : 'another error';
  }
  return undefined;
}
