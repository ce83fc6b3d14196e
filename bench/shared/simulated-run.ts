import { workspacePlaces } from '../../src/substrate/system/files/state-place.ts';
import { join } from 'node:path';
import { createRunFiles } from '../../src/engine/sinks/run-files.ts';
import { loadSinks } from '../../src/engine/sinks/sinks.ts';
import { openRunResources } from '../../src/engine/run-resources.ts';
import { startSegment } from '../../src/engine/run-loop.ts';
import { openTracing, withLastLook } from '../../src/engine/trace-run.ts';
import { plainJson } from '../../src/text/json.ts';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import type { Playbook } from '../../src/model/plan.ts';
import { RUN_EVENTS, runDefinitionSchema, type RunDefinition } from '../../src/model/run.ts';
import { uuid7 } from '../../src/substrate/system/clock/ids.ts';
import { createRepository } from '../../src/substrate/git/repository.ts';
import { createGitWorkspaces } from '../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../src/substrate/git/inspect-repository.ts';
import { defined } from '../../src/text/defined.ts';
import { tracingEndSchema, type TracingEnd } from '../../src/model/tracing.ts';
import type { TraceTarget } from '../../src/engine/tracing/target.ts';
import { machineIn } from './machine.ts';
import { createSimulatedRuntime, type SimulatedTurns } from './simulated-runtime.ts';
import { newStateOf } from '../../test/support/state.ts';

export interface SimulatedRun {
  readonly runId: string;
  readonly events: readonly LedgerEvent[];
  /** One for each checkpoint, in order: not all of them are kept. */
  readonly supersteps: readonly { readonly at: number }[];
  readonly traces?: TracingEnd;
}

/**
 * One run by the real engine: graph, checkpointer, ledger, supervisor and decisions, in a repository of its own. Only the
 * turns are simulated; with tasks that need no folder, git has a part at the very start and end alone.
 */
export async function runSimulated(
  folder: string,
  plan: {
    playbook: Playbook<null>;
    parallel: number;
    turns: SimulatedTurns;
    traces?: TraceTarget | undefined;
    /** It has its files for people. */
    files?: boolean;
  },
): Promise<SimulatedRun> {
  const machine = machineIn(folder);
  const { clock, git, host } = machine;
  const root = join(folder, 'repository');
  await createRepository(git, root, { 'readme.md': '# bench\n' });
  const repository = await inspectRepository(git, root);
  const resources = openRunResources(machine, newStateOf(root));
  try {
    const { ledger, checkpointer } = resources;
    const supersteps: { at: number }[] = [];
    const put = checkpointer.put.bind(checkpointer);
    checkpointer.put = (config, checkpoint, ...more) => {
      supersteps.push({ at: Date.parse(checkpoint.ts) });
      return put(config, checkpoint, ...more);
    };
    const definition = definitionOf(root, repository.head, plan.parallel);
    const runId = uuid7(clock.now());
    ledger.createRun({ id: runId, name: definition.name });
    const lease = ledger.acquireLease(runId, 'bench');
    const inputRef = ledger.note(lease, RUN_EVENTS.defined, plainJson(definition));
    const of = { lease, definition, limits: definition.limits };
    let traces: TracingEnd | undefined;
    const tracer = await openTracing({ ...machine, ...defined({ target: plan.traces }) }, ledger, of, (event) => {
      traces = event.type === 'tracing' ? tracingEndSchema.safeParse(event).data : traces;
    });
    const workspaces = createGitWorkspaces({ ...git, ...workspacePlaces(host, resources.directory) }, repository);
    const { playbook } = plan;
    const warn = (text: string): never => {
      throw new Error(text);
    };
    const files =
      plan.files === true
        ? createRunFiles(
            { ...machine, ledger, workspaces, playbook, warn, sinks: await loadSinks() },
            resources.directory,
            of,
          )
        : undefined;
    const started = startSegment(
      {
        ...machine,
        runtime: () => createSimulatedRuntime(plan.turns),
        workspaces,
        forge: machine.forge(repository),
        playbook,
        onEvent: () => undefined,
        tracer,
        ...defined({ files }),
      },
      resources,
      { ...of, inputRef, resumed: false, since: ledger.lastSeq() },
    );
    const segment = withLastLook(started, tracer);
    const end = await segment.done;
    if (end.end !== 'finished' || end.outcome !== 'done') throw new Error(`the run ended ${end.end}: ${end.why}`);
    await files?.end('done');
    const events = ledger.events({ stream: runId });
    await tracer?.end();
    return { runId, events, supersteps, ...defined({ traces }) };
  } finally {
    resources.close();
  }
}

function definitionOf(root: string, base: string, parallel: number): RunDefinition {
  return runDefinitionSchema.parse({
    version: 1,
    name: 'bench',
    source: 'objective.md',
    objective: { title: 'Bench', goals: ['measure'], criteria: [], constraints: [], context: '', text: '# Bench\n' },
    playbook: 'bench',
    options: {},
    agents: [
      {
        name: 'builder',
        role: 'builder',
        runtime: 'scripted',
        access: { level: 'edit' },
        instructions: 'You build.',
        account: 'scripted',
      },
    ],
    runtimes: {},
    limits: { parallel, turns: 100_000 },
    setup: [],
    verify: [],
    repository: { root, base, branch: 'main' },
    ...{ described: {}, judges: ['reviewer', 'member'], baseline: 'off', plan: 'auto', strict: false },
    trusted: null,
  });
}
