// @module-tag all
import { workspacePlaces } from '../../src/substrate/system/files/state-place.ts';
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { compose, type Host } from '../../src/engine/compose.ts';
import { openRunResources, type RunResources } from '../../src/engine/run-resources.ts';
import { wireRun } from '../../src/engine/wire-run.ts';
import { createRunGraph, type RunGraph } from '../../src/graph/graph.ts';
import { isSquadError } from '../../src/model/errors.ts';
import { createPlaybook } from '../../src/playbooks/registry.ts';
import { readRun } from '../../src/view/read-run.ts';
import { createGitWorkspaces } from '../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../src/substrate/git/inspect-repository.ts';
import { effectsOf, openRunRoom, type RunRoom } from '../support/run-room.ts';
import { REVIEW } from '../support/run-scenarios.ts';
import { testHost } from '../support/test-host.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

let room: RunRoom;
let resources: RunResources | undefined;
afterEach(() => {
  resources?.close();
  room.close();
});

function hostOf({ root, repository }: RunRoom): Host {
  return testHost(root, { workingDirectory: repository, configHome: join(root, '.config') });
}

/** The run's graph as an engine would open it: the same stores, real processes, real git, and a lease of its own. */
async function openGraph(): Promise<{ graph: RunGraph; thread: string }> {
  const host = hostOf(room);
  const composition = compose(host);
  const repository = await inspectRepository(composition.git, room.repository);
  resources = openRunResources({ ...composition, host }, stateOf(room.repository));
  const { row, definition, limits } = readRun(resources.ledger, undefined, null);
  const lease = resources.ledger.acquireLease(row.id, 'somebody with LangGraph’s own tools');
  const playbook = createPlaybook({}, definition.playbook);
  if (playbook === undefined) throw new Error('no playbook');
  const workspaces = createGitWorkspaces(
    { ...composition.git, ...workspacePlaces(host, stateOf(room.repository)) },
    repository,
  );
  const forge = composition.forge(repository);
  const ports = { ...composition, host, workspaces, forge, playbook, onEvent: () => undefined };
  const { graphPorts } = wireRun(ports, resources, {
    lease,
    definition,
    limits,
    since: resources.ledger.lastSeq(),
  });
  return { graph: createRunGraph(graphPorts, { checkpointer: resources.checkpointer }), thread: row.id };
}

/** Old checkpoints, the first and the last before each node. */
async function oldCheckpoints(graph: RunGraph, thread: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let newest = true;
  for await (const { config, next } of graph.getStateHistory({ configurable: { thread_id: thread } })) {
    const id: unknown = config.configurable?.['checkpoint_id'];
    const node = next.join('+') || 'the end';
    if (!newest && typeof id === 'string') {
      if (!found.has(`last ${node}`)) found.set(`last ${node}`, id);
      found.set(`first ${node}`, id);
    }
    newest = false;
  }
  return found;
}

/** Every row of both stores. */
function dump(): string {
  return ['squad.db', 'checkpoints.db']
    .map((name) => {
      const db = new Database(join(stateOf(room.repository), name), { readonly: true });
      try {
        const tables = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
        return tables.map(
          (table) => `${table.name}\n${JSON.stringify(db.prepare(`SELECT * FROM "${table.name}"`).all())}`,
        );
      } finally {
        db.close();
      }
    })
    .flat()
    .join('\n');
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'it was done',
    (reason: unknown) => reason,
  );
  return isSquadError(error) ? error.code : String(error);
}

async function expectAllRefused(least: number): Promise<void> {
  const { graph, thread } = await openGraph();
  const old = await oldCheckpoints(graph, thread);
  expect(old.size).toBeGreaterThanOrEqual(least);
  const before = dump();
  const effects = effectsOf(room);
  for (const [where, id] of old) {
    const config = { configurable: { thread_id: thread, checkpoint_id: id } };
    const run = await refusalOf(graph.invoke(null, { ...config, durability: 'sync' }));
    const edit = await refusalOf(graph.updateState(config, { phase: 'running', cursor: 1 }, 'collect'));
    expect({ where, run, edit }).toEqual({ where, run: 'cursor-refused', edit: 'cursor-refused' });
  }
  // Whatever a node may have begun before it was refused would show by then.
  await sleep(500);
  expect(dump()).toBe(before);
  expect(effectsOf(room)).toEqual(effects);
}

describe("an old checkpoint, through LangGraph's own API", () => {
  it('of a finished run is neither run nor edited, and nothing has changed', async () => {
    room = openRunRoom(REVIEW);
    expect((await room.begin().finished).code).toBe(0);
    await expectAllRefused(16);
  });

  it(
    'of a run that was cut short is neither run nor edited, and the run goes on as if nobody had tried',
    ALL,
    async () => {
      room = openRunRoom(REVIEW);
      const killed = await room.begin({ SQUAD_FAILPOINTS: 'attempt.claimed:6=kill' }).finished;
      expect(killed.signal).toBe('SIGKILL');
      await expectAllRefused(10);
      resources?.close();
      resources = undefined;
      expect((await room.resume().finished).code).toBe(0);
    },
  );
});
