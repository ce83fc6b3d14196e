import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { NETWORK_VARIABLES } from '../../src/model/network-variables.ts';
import { pickVariables } from '../../src/text/defined.ts';
import type { Attempt } from '../../src/model/attempt.ts';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { scriptModel, type ScriptedModel, type ScriptedTurn } from './turn-scripts.ts';
import { runtimesAt } from './whole-run-room.ts';

const APP = fileURLToPath(new URL('../fixtures/vite-app', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../../bin/squad.cjs', import.meta.url));
const DATABASE = 'postgres://shop@localhost/shop';

type Done = Attempt & { readonly settledAt: number | undefined };

export interface Said {
  readonly code: number;
  readonly output: string;
  /** Epoch ms. */
  readonly began: number;
  readonly ended: number;
}

/** A clone of a Vite, React and ESLint project with 209 packages in its lock file, and its owner's home, variables and models. */
export interface ProjectRoom {
  readonly root: string;
  readonly clone: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly model: ScriptedModel;
  /** The launcher, as a person starts it. `without`: variables that are not set. */
  squad(args: readonly string[], without?: readonly string[]): Promise<Said>;
  /** How often npm was asked to install. */
  installs(): number;
  /** Those of all runs, in the order of their claims. */
  attempts(): readonly Done[];
  close(): Promise<void>;
}

export async function openProjectRoom(turns: readonly ScriptedTurn[]): Promise<ProjectRoom> {
  const model = scriptModel(turns);
  const [anthropic, openai] = [await startFakeAnthropic(model.anthropic), await startFakeOpenai(model.openai)];
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-project-')));
  const clone = makeClone(root);
  mkdirSync(join(root, 'config', 'squad'), { recursive: true });
  const models = { 'builder-2': PLAIN_MODEL, 'reviewer-2': PLAIN_MODEL };
  const settings = stringify({ runtimes: runtimesAt(openai.baseUrl), models });
  writeFileSync(join(root, 'config', 'squad', 'config.yaml'), settings, { mode: 0o600 });
  const installs = join(root, 'installs');
  const environment = {
    PATH: `${makePrograms(root, installs)}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    XDG_STATE_HOME: join(root, 'state'),
    ANTHROPIC_API_KEY: 'key-of-the-fake',
    ANTHROPIC_BASE_URL: anthropic.url,
    FAKE_KEY: 'key-of-the-fake',
    DATABASE_URL: DATABASE,
    // The registry may be behind a proxy of this machine.
    ...pickVariables(process.env, NETWORK_VARIABLES),
    PAGER: 'cat',
  };
  return {
    ...{ root, clone, environment, model },
    squad: (args, without = []) => {
      const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !without.includes(name)));
      return say(spawn(process.execPath, [LAUNCHER, ...args], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] }));
    },
    installs: () => (existsSync(installs) ? readFileSync(installs, 'utf8').trim().split('\n').length : 0),
    attempts: () => {
      const ledger = openLedger(stateOf(clone), { clock: createSystemClock(), readOnly: true });
      try {
        return ledger.attempts({}).map((one) => ({ ...one, settledAt: ledger.settlement(one.id)?.at }));
      } finally {
        ledger.close();
      }
    },
    close: async () => {
      await anthropic.close();
      await openai.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** What its owner has there besides is ignored. */
function makeClone(root: string): string {
  const origin = join(root, 'origin');
  cpSync(APP, origin, { recursive: true });
  writeFileSync(join(origin, '.gitignore'), 'node_modules\ndist\n.env\n');
  git(origin, 'init', '-q', '-b', 'main');
  git(origin, 'add', '-A');
  git(origin, 'commit', '-q', '-m', 'The shop');
  const clone = join(root, 'shop');
  git(root, 'clone', '-q', origin, clone);
  git(clone, 'config', 'user.name', 'Ada');
  git(clone, 'config', 'user.email', 'ada@example.com');
  writeFileSync(join(clone, '.env'), 'VITE_TITLE=Shop\n', { mode: 0o600 });
  return clone;
}

/** An npm that notes each installation, and is the real one. */
function makePrograms(root: string, installs: string): string {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const npm = execFileSync('/bin/sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const noting = `#!/bin/sh\n[ "$1" = ci ] && echo "$PWD" >>'${installs}'\nexec '${npm}' "$@"\n`;
  writeFileSync(join(bin, 'npm'), noting, { mode: 0o755 });
  return bin;
}

async function say(child: ReturnType<typeof spawn>): Promise<Said> {
  const began = Date.now();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? -1)));
  return { code, output, began, ended: Date.now() };
}
