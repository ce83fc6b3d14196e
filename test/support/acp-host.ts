import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { HostPlan } from '../../src/runtimes/acp/host/plan.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The host that tests start: as it was built by `npm test`, else its sources. */
const ACP_HOST = file(
  process.env['SQUAD_TEST_BUILT'] === '1' ? '../../dist/acp-host.mjs' : '../../src/runtimes/acp/host/main.ts',
);
const FAKE_AGENT = file('./fake-acp-agent.mjs');

type Line = Readonly<Record<string, unknown>>;

export interface HostRun {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly cwd: string;
  readonly lines: readonly Line[];
  /** The first line that fits, as soon as it is there. */
  seen(fits: (line: Line) => boolean): Promise<Line>;
  readonly ended: Promise<{ readonly code: number | null; readonly lines: readonly Line[]; readonly last: Line }>;
  /** Bytes of it so far. */
  stderr(): number;
  /** What the fake agent wrote down. */
  noted(name: string): Line[];
}

/** Starts the host with a fake agent that plays a script, in a folder of its own. */
export function startHost(
  script: object,
  plan: Partial<HostPlan> = {},
  { prompt = 'do it', folder = realpathSync(mkdtempSync(join(tmpdir(), 'squad-acp-'))) } = {},
): HostRun {
  const cwd = join(folder, 'work');
  const state = join(folder, 'state');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ state, ...script }));
  const whole: HostPlan = {
    agent: 'acp/fake',
    command: process.execPath,
    args: [FAKE_AGENT, join(folder, 'script.json')],
    cwd,
    mcp: [],
    policy: { access: 'edit', network: false, writable: [], allow: [], deny: [] },
    quirks: {},
    limits: { openMs: 10_000 },
    ...plan,
  };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(whole));
  const child = spawn(process.execPath, [ACP_HOST, join(folder, 'plan.json')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderrBytes = 0;
  child.stderr.on('data', (chunk: Buffer) => (stderrBytes += chunk.length));
  child.stdin.end(prompt);
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const read = createInterface({ input: child.stdout });
  read.on('line', (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const look of waiting) look();
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const all = new Promise((resolve) => read.once('close', resolve));
  return {
    child,
    folder,
    cwd,
    lines,
    seen: async (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(fits);
          if (found !== undefined && waiting.delete(look)) resolve(found);
        };
        waiting.add(look);
        look();
        void all.then(() => reject(new Error(`never seen; lines: ${JSON.stringify(lines).slice(0, 2000)}`)));
      }),
    ended: Promise.all([code, all]).then(([status]) => {
      endChildren(join(state, 'pids.jsonl'));
      return { code: status, lines, last: lines.at(-1) ?? {} };
    }),
    stderr: () => stderrBytes,
    noted: (name) =>
      readFileSync(join(state, name), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Line),
  };
}

/** What the fake agent left behind: in a turn squad's wrapper ends it. */
function endChildren(path: string): void {
  if (!existsSync(path)) return;
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    try {
      process.kill((JSON.parse(line) as { pid: number }).pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
