import type { Access } from '../model/access.ts';
import { SquadError } from '../model/errors.ts';
import { TURN } from '../model/playbook-name.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { runDefinitionSchema, type RunDefinition } from '../model/run.ts';
import type { DescribedRuntimes } from '../model/runtime-description.ts';
import { settingsSchema, type Settings } from '../model/settings.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { defined } from '../text/defined.ts';
import type { Json } from '../text/json.ts';
import { findSecret } from './secrets.ts';

export interface TurnSpec {
  readonly prompt: string;
  readonly instructions: string;
  readonly runtime: string;
  readonly access: Access['level'];
  readonly model?: string | undefined;
  /** JSON Schema of the answer. */
  readonly schema?: Readonly<Record<string, Json>> | undefined;
  /** Path of the runtime's program. */
  readonly binary?: string | undefined;
  /** Names of variables that reach it. */
  readonly env: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly minutes: number;
  readonly idleMinutes: number;
  /** More turns after one that did not complete. */
  readonly retries: number;
}

/** What the settings say of the turn's runtime, under what the turn itself says. */
export function withRuntime(spec: TurnSpec, named: Settings['runtimes'][string] | undefined): TurnSpec {
  if (named === undefined) return spec;
  const { command, env, config } = named;
  return {
    ...spec,
    binary: spec.binary ?? command,
    env: [...new Set([...env, ...spec.env])],
    config: { ...config, ...spec.config },
  };
}

const NO_OBJECTIVE = { title: 'one turn', goals: [], criteria: [], constraints: [], context: '' };

/** Only the limits of the turn count. */
const NO_RUN_LIMITS = {
  minutes: 14 * 24 * 60,
  usd: 1_000_000,
  turns: 100_000,
  firstToolSeconds: 86_400,
  retries: 0,
  walls: ['fail'],
};

/** A run of one task for one agent. Throws `bad-input` for what cannot be stored. */
export function turnDefinition(
  name: string,
  spec: TurnSpec,
  { root, head: base, branch }: Pick<RepositoryReport, 'root' | 'head' | 'branch'>,
  redactor: Redactor,
  described: DescribedRuntimes,
): RunDefinition {
  const { runtime, binary, model, schema, env, config, minutes, idleMinutes, retries } = spec;
  refuseSecrets(config, redactor);
  const { setup, verify, mail } = settingsSchema.parse({});
  const agent = { name: TURN, role: TURN, runtime, account: runtime, access: { level: spec.access } };
  const parsed = runDefinitionSchema.safeParse({
    version: 1,
    name,
    source: 'squad dev turn',
    objective: { ...NO_OBJECTIVE, text: redactor.text(spec.prompt) },
    playbook: TURN,
    options: defined({ schema }),
    agents: [defined({ ...agent, instructions: redactor.text(spec.instructions), model })],
    runtimes: { [runtime]: defined({ env, config, command: binary }) },
    ...{ described, baseline: 'off', plan: 'auto', strict: false },
    limits: { ...NO_RUN_LIMITS, turnMinutes: minutes, idleMinutes, task: { turns: retries + 1 } },
    setup,
    verify,
    mail,
    repository: defined({ root, base, branch }),
    trusted: null,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SquadError({
    code: 'bad-input',
    message: `the turn's request cannot be used: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    next: 'Change that setting.',
  });
}

/** The configuration is stored with the run and used as it is. */
function refuseSecrets(config: TurnSpec['config'], redactor: Redactor): void {
  const key = findSecret(config, redactor);
  if (key === undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `--config ${key} holds a secret, and squad stores it with the run`,
    next: 'Put it into an environment variable, and let that through with `--env <name>`.',
  });
}
