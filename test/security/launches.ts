import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from '../../src/engine/compose.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { testHost } from '../support/test-host.ts';

export const RECORDER = fileURLToPath(new URL('../fixtures/security/records-itself.mjs', import.meta.url));

interface Launch {
  readonly args: readonly string[];
  readonly asked: boolean;
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Real adapters, the real wrapper, and in the place of the runtime's program one that records how it was started. */
export interface LaunchRoom {
  readonly root: string;
  readonly workspace: string;
  readonly turn: string;
  run(
    runtime: 'claude' | 'codex',
    request: Partial<TurnRequest>,
    environment?: Readonly<Record<string, string>>,
  ): Promise<TurnResult>;
  /** Without the questions that an adapter asks its program before. */
  launches(): readonly Launch[];
  all(): readonly Launch[];
  close(): void;
}

export function openLaunchRoom(workspaceName = 'tree'): LaunchRoom {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-launch-')));
  const [workspace, turn, record] = [join(root, workspaceName), join(root, 'turn'), join(root, 'record')];
  for (const folder of [workspace, turn]) mkdirSync(folder);
  chmodSync(RECORDER, 0o755);
  let turns = 0;
  const all = (): Launch[] =>
    existsSync(record)
      ? readFileSync(record, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Launch)
          .map((launch) => ({ ...launch, stdin: Buffer.from(launch.stdin, 'base64').toString('utf8') }))
      : [];
  return {
    root,
    workspace,
    turn,
    run: async (name, request, environment = {}) => {
      turns += 1;
      const directory = join(turn, String(turns));
      mkdirSync(directory);
      const host = testHost(root, {
        environment: { PATH: process.env['PATH'], HOME: root, RECORD: record, ...environment },
      });
      const runtime = compose(host).runtime(name, { binary: RECORDER, allowEnvironment: ['RECORD'] });
      const whole: TurnRequest = {
        ...{ turnId: `security-${process.pid}-${turns}`, workspace: { path: workspace }, prompt: 'Go on.' },
        ...{ instructions: 'You are a builder.', access: { level: 'edit' }, mcp: [], limits: DEFAULT_TURN_LIMITS },
        ...request,
      };
      return runtime.start(whole, { directory, onSpawned: () => Promise.resolve() }).result;
    },
    launches: () => all().filter(({ asked }) => !asked),
    all,
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}
