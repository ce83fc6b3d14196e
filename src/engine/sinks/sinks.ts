import type { MakesFolder } from '../../model/folder.ts';
import type { Board } from '../../model/plan/board.ts';
import { FOLDER } from '../../model/playbook-name.ts';
import type { PublishFacts } from '../../model/run.ts';
import type { OperationPorts } from '../operations/operation-ports.ts';
import type { Sink, SinkWork } from './sink.ts';

/** By name, in the order in which they deliver and are written. */
export const SINKS: Readonly<Record<string, Sink>> = {
  branch: {
    about: '`squad/<name>`, with the work that was checked',
    load: async () => ({ publish: (await import('../operations/publish-run.ts')).publishRun }),
  },
  forge: {
    about: 'that branch at a remote, and its pull request (`publish`)',
    admit: async (forge, definition) => (await import('./forge-sink.ts')).refuseUnpublishable(forge, definition),
    load: async () => (await import('./forge-sink.ts')).FORGE,
  },
  [FOLDER]: {
    about: 'the folder that the run was started on, or makes',
    load: async () => (await import('./folder-sink.ts')).KEPT_FOLDER,
  },
  files: {
    about: '`.squad/runs/<run>/`, for people',
    load: async () => (await import('./project-files.ts')).FILES,
  },
  report: {
    about: '`report.md` and `report.html` in it',
    load: async () => (await import('./project-files.ts')).REPORT,
  },
};

export type LoadedSinks = readonly (readonly [name: string, work: SinkWork])[];

/** All of them at once: a module must not be loaded late in a run, when another version of squad may be installed. */
export async function loadSinks(): Promise<LoadedSinks> {
  return Promise.all(Object.entries(SINKS).map(async ([name, { load }]) => [name, await load()] as const));
}

/** Delivers the work of a run to each sink. */
export async function publishWork(
  ports: OperationPorts,
  board: Board,
  makes: MakesFolder | undefined,
): Promise<PublishFacts> {
  let facts: PublishFacts = { head: ports.definition.repository.base, kept: [] };
  for (const [, { publish }] of await loadSinks()) {
    facts = { ...facts, ...(await publish?.(ports, board, { facts, makes })) };
  }
  return facts;
}
