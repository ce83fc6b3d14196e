import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { ALL } from '../support/lane.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../support/tmux.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECONDS = 60;

interface Example {
  /** undefined: output of a command before it. */
  readonly command: string | undefined;
  readonly output: readonly string[];
}

/** Everything that the page has its reader type, in order, and what it says comes then. */
function examplesOf(page: string): Example[] {
  return [...page.matchAll(/^```(sh|console)\n([^]*?)^```$/gm)].flatMap(([, kind, block = '']) => {
    const lines = block.trimEnd().split('\n');
    if (kind === 'sh') return lines.map((command) => ({ command, output: [] }));
    const starts = lines.flatMap((line, index) => (index === 0 || line.startsWith('$ ') ? [index] : []));
    return starts.map((start, index) => {
      const [first = '', ...rest] = lines.slice(start, starts[index + 1]);
      return first.startsWith('$ ')
        ? { command: first.slice(2), output: rest }
        : { command: undefined, output: [first, ...rest] };
    });
  });
}

/** Differ from one run or machine to the next. `…` marks what the page leaves out. */
const VARIES: readonly (readonly [RegExp, string])[] = [
  [/…|~/g, '.*'],
  [/\b[0-9a-f]{40}\b/g, '[0-9a-f]{40}'],
  [/\b[0-9a-f]{12}\b/g, '[0-9a-f]{12}'],
  [/\b\d\d:\d\d:\d\d\b/g, '\\d\\d:\\d\\d:\\d\\d'],
  [/\b\d+(?:\.\d+)?h?m?\d* ?s\b|\b\d+ min\b/g, '[\\d.]+ ?\\w+'],
  [/7h59m|8h00m/g, '\\dh\\d\\dm'],
  [/\b[\d.]+k? tokens in, [\d.]+k? out/g, '[\\d.]+k? tokens in, [\\d.]+k? out'],
  [/\b\d+(?:\.\d+)?k? tokens/g, '[\\d.]+k? tokens'],
  [/v?\b\d+\.\d+\.\d+\b/g, 'v?[\\d.]+'],
  [/─+/g, '─+'],
  [/\s+/g, '\\s+'],
];

/** A line of the page as a pattern: what varies, varies; the rest is as it says. */
function patternOf(line: string): RegExp {
  const found = new RegExp(VARIES.map(([what]) => `(${what.source})`).join('|'), 'g');
  let [pattern, from] = ['', 0];
  for (const match of line.matchAll(found)) {
    pattern += escaped(line.slice(from, match.index));
    pattern += VARIES.find(([what]) => new RegExp(`^(?:${what.source})$`).test(match[0]))?.[1] ?? '';
    from = match.index + match[0].length;
  }
  return new RegExp(`^\\s*${pattern}${escaped(line.slice(from))}\\s*$`);
}

function escaped(line: string): string {
  return line.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** The lines of the page that do not come. What happens at the same time comes in any order. */
function missingIn(shown: string, lines: readonly string[]): string[] {
  const actual = shown.split('\n');
  const expected = lines.filter((line) => !['', '…'].includes(line.trim()));
  return expected.filter((line) => !actual.some((one) => patternOf(line).test(one)));
}

/** A home, a checkout of squad beside the repository, and two windows of a terminal. */
function openTutorial() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-tutorial-')));
  const terminal = openTmuxRoom();
  onTestFinished(() => {
    terminal.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  const bin = join(root, 'bin');
  mkdirSync(bin);
  mkdirSync(join(root, 'agentsquad'));
  execFileSync('cp', ['-R', join(ROOT, 'examples'), join(root, 'agentsquad')]);
  writeFileSync(join(bin, 'squad'), `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`, { mode: 0o755 });
  writeFileSync(join(root, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
  const environment = {
    HOME: root,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    LANG: 'C.UTF-8',
    PS1: 'shell> ',
    TERM: 'xterm-256color',
  };
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  let [folder, windows] = [root, 0];
  const tmux = (...args: string[]): string => terminal.tmux('tutorial', ...args);
  return {
    /** In a shell without a terminal. */
    run: (command: string): string => {
      const line = `exec 2>&1; ${command}\npwd >'${root}/.folder'`;
      try {
        return execFileSync('sh', ['-c', line], { cwd: folder, env: environment, encoding: 'utf8' });
      } catch (error) {
        // A command that fails says so, too.
        return String((error as { stdout?: unknown }).stdout);
      } finally {
        folder = readFileSync(join(root, '.folder'), 'utf8').trim();
      }
    },
    window: () => {
      const shell = ['-c', folder, 'env', ...variables, 'sh', '-i'];
      if (windows === 0) tmux('new-session', '-d', '-s', 't', '-x', '84', '-y', '50', ...shell);
      else tmux('new-window', '-d', '-t', 't:', ...shell);
      const target = `t:${windows}`;
      windows += 1;
      const shown = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', target);
      return {
        press: (...keys: string[]): string => tmux('send-keys', '-t', target, ...keys),
        shows: (what: RegExp): Promise<string> =>
          eventually(String(what), () => (what.test(shown()) ? shown() : undefined), SECONDS).catch(
            (cause: unknown) => {
              throw new Error(`the window shows ${shown()}`, { cause });
            },
          ),
      };
    },
  };
}

const named = NO_TMUX === undefined ? '' : ` (left out: ${NO_TMUX})`;

it.skipIf(NO_TMUX !== undefined)(
  `docs/tutorial.md: each command works, and prints what the page says${named}`,
  { ...ALL, timeout: 300_000 },
  async () => {
    const examples = examplesOf(readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8'));
    const room = openTutorial();
    let main: ReturnType<typeof room.window> | undefined;
    const missing: string[] = [];
    for (const { command, output } of examples) {
      if (command?.startsWith('squad run ') === true) {
        main = room.window();
        await main.shows(/shell>\s*$/);
        main.press('-l', command);
        main.press('Enter');
        await main.shows(/\[y\/N\]|\(y\/N\)|Trust|agree/i);
        main.press('y', 'Enter');
        const plan = await main.shows(/Start this plan\?[^]*Later/);
        missing.push(...missingIn(plan, output).map((line) => `${command}: ${line}\nin ${plan}`));
        main.press('Enter');
        await main.shows(/Your answer to mail\/1/);
      } else if (command === 'squad watch') {
        const second = room.window();
        await second.shows(/shell>\s*$/);
        second.press('-l', command);
        second.press('Enter');
        const watched = await second.shows(/run sh greet\.sh Ada[^]*q leave/);
        missing.push(...missingIn(watched, output).map((line) => `${command}: ${line}\nin ${watched}`));
        second.press('q');
      } else if (command === undefined) {
        const end = await main!.shows(/take it/);
        missing.push(...missingIn(end, output).map((line) => `the end: ${line}\nin ${end}`));
      } else {
        // Which runtimes are installed is the machine's own.
        const lines =
          command === 'squad doctor'
            ? output.slice(
                0,
                output.findIndex((line) => / claude /.test(line)),
              )
            : output;
        let shown = room.run(command);
        // A question is asked a moment before the turn that asks it has ended.
        const looks = command === 'squad status' ? 20 : 0;
        for (let look = 0; look < looks && missingIn(shown, lines).length > 0; look += 1) {
          await new Promise((resolve) => setTimeout(resolve, 500));
          shown = room.run(command);
        }
        missing.push(...missingIn(shown, lines).map((line) => `${command}: ${line}\nin ${shown}`));
      }
    }
    expect(missing).toEqual([]);
  },
);
