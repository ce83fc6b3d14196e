import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { expect, it, onTestFinished } from 'vitest';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { createRepository, git } from '../support/git.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../support/tmux.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { ANSWER, CHANGE, QUESTION, SENTENCE, turnsOf } from './sentence-script.ts';
import { createGate, scriptModel } from './turn-scripts.ts';
import { processesOf, runtimesAt } from './whole-run-room.ts';

const NO_BINARY = CLAUDE_BINARY === undefined || CODEX_BINARY === undefined ? 'a CLI is missing' : undefined;
const LEFT_OUT = NO_BINARY ?? NO_TMUX;
const RUN = 'write-a-program-that-greets';
const SECONDS = 60;

/** A fresh clone, a person's own settings, models on loopback, and two windows of one terminal in the clone. */
async function openSentenceRoom() {
  const gate = createGate(1);
  const model = scriptModel(turnsOf(gate));
  const [anthropic, openai] = [await startFakeAnthropic(model.anthropic), await startFakeOpenai(model.openai)];
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-sentence-')));
  const terminal = openTmuxRoom();
  onTestFinished(async () => {
    gate.open();
    terminal.close();
    await anthropic.close();
    await openai.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  const origin = createRepository(join(root, 'origin'), { 'README.md': '# Greeting\n' });
  const clone = join(root, 'greeting');
  git(root, 'clone', '-q', origin, clone);
  mkdirSync(join(root, 'config', 'squad'), { recursive: true });
  const models = { 'builder-2': PLAIN_MODEL, 'reviewer-2': PLAIN_MODEL };
  const settings = stringify({ runtimes: runtimesAt(openai.baseUrl), models });
  writeFileSync(join(root, 'config', 'squad', 'config.yaml'), settings, { mode: 0o600 });
  const environment = {
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    XDG_STATE_HOME: join(root, 'state'),
    ANTHROPIC_API_KEY: 'key-of-the-fake',
    ANTHROPIC_BASE_URL: anthropic.url,
    FAKE_KEY: 'key-of-the-fake',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    PAGER: 'cat',
    PS1: 'shell> ',
  };
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  mkdirSync(join(root, 'bin'));
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`;
  writeFileSync(join(root, 'bin', 'squad'), launcher, { mode: 0o755 });
  const shell = ['env', ...variables, `PATH=${join(root, 'bin')}:${process.env['PATH'] ?? ''}`, 'sh', '-i'];
  const tmux = (...args: string[]): string => terminal.tmux('sentence', ...args);
  tmux('new-session', '-d', '-s', 'person', '-x', '120', '-y', '40', '-c', clone, ...shell);
  tmux('set', '-g', 'history-limit', '20000');
  tmux('new-window', '-d', '-t', 'person:', '-c', clone, ...shell);
  return { root, clone, gate, model, windows: [windowOf(0), windowOf(1)] as const };

  function windowOf(index: number) {
    const target = `person:${index}`;
    const shown = (...more: string[]): string => tmux('capture-pane', '-p', '-J', '-t', target, ...more);
    return {
      type: (text: string): string => tmux('send-keys', '-t', target, '-l', text),
      press: (...keys: string[]): string => tmux('send-keys', '-t', target, ...keys),
      /** Waits for this on the screen. */
      shows: (what: RegExp): Promise<string> =>
        eventually(
          `${String(what)} in window ${index}`,
          () => (what.test(shown()) ? shown() : undefined),
          SECONDS,
        ).catch((error: unknown) => {
          throw new Error(`it shows ${shown('-S', '-')}\n${model.strange.join('\n')}`, { cause: error });
        }),
      /** Types a command, and waits for what it prints. */
      async runs(command: string, until: RegExp): Promise<string> {
        await this.shows(/shell>\s*$/);
        this.type(`clear; ${command}`);
        this.press('Enter');
        return this.shows(until);
      },
    };
  }
}

it.skipIf(LEFT_OUT !== undefined)(
  `a sentence becomes a merged branch: plan, change, question, diff and merge${LEFT_OUT === undefined ? '' : ` (left out: ${LEFT_OUT})`}`,
  { timeout: 300_000 },
  async () => {
    const { root, clone, gate, model, windows } = await openSentenceRoom();
    const [first, second] = windows;

    await first.runs('squad doctor', /^ok +codex +\S+/m);
    const planned = await first.runs(`squad run "${SENTENCE}"`, /Start this plan\?/);
    expect(planned).toMatch(/Plan of write-a-program-that-greets: 1 task$/m);
    expect(planned).toMatch(/It greets by name \(proposed; run: sh greet\.sh Ada/);
    first.press('Down', 'Down', 'Enter');
    await first.shows(/What should be different\?/);
    first.type(CHANGE);
    first.press('Enter');
    const changed = await first.shows(/: 2 tasks$[^]*Start this plan\?/m);
    expect(changed).toMatch(/1\. greet[^]*2\. usage/);

    const waits = await second.runs('squad watch', /waits for you/);
    expect(waits).toMatch(/Approve the plan\? 2 tasks: greet, usage\./);
    first.press('Enter');

    const asked = await first.shows(/Your answer to mail\/1/);
    expect(asked).toContain(QUESTION);
    const watched = await second.shows(/\? greet asking[^]*● usage in work/);
    expect(watched).toContain(QUESTION);
    first.type(ANSWER);
    first.press('Enter');
    const board = await first.shows(/● greet in work/);
    expect(board).toMatch(/builder-1 .*claude/);
    expect(board).toMatch(/q leave/);
    gate.open();
    await first.shows(/^DONE, all work is delivered and verified$/m);
    await second.shows(/DONE, all work is delivered and verified/);

    const diff = await first.runs('squad diff', /^\+echo "Hello[^]*shell>\s*$/m);
    expect(diff).toMatch(/^\+Run `sh greet\.sh Ada`\.$/m);
    expect(existsSync(join(clone, 'greet.sh'))).toBe(false);
    const merged = await first.runs('squad merge', /^merged /m);
    expect(merged).toMatch(/^merged +squad\/write-a-program-that-greets into \S+: now at \w+, by fast-forward$/m);
    expect(readFileSync(join(clone, 'greet.sh'), 'utf8')).toBe('echo "Hello, ${1:-world}."\n');
    expect(readFileSync(join(clone, 'USAGE.md'), 'utf8')).toBe('Run `sh greet.sh Ada`.\n');
    expect(git(clone, 'status', '--porcelain')).toBe('');
    expect(git(clone, 'rev-parse', 'HEAD')).toBe(git(clone, 'rev-parse', `squad/${RUN}`));

    expect(model.strange).toEqual([]);
    expect(model.asked.filter((step, index, all) => all.indexOf(step) !== index)).toEqual([]);
    // What is left is the terminal's.
    expect((await processesOf(root)).filter((one) => /squad\/turns|live-/.test(one))).toEqual([]);
  },
);
