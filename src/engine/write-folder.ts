import type { Composition, Host } from './compose.ts';
import { wrongEnvironment } from '../model/errors.ts';
import { writeAgainCommand } from '../model/folder-written.ts';
import { placedAt, RUN_EVENTS } from '../model/run.ts';
import { keepsFolder } from '../playbooks/registry.ts';
import { incomplete, readRun, type RunReading } from '../view/read-run.ts';
import { standingOf } from '../view/run-state.ts';
import { findState } from '../substrate/system/files/state-place.ts';
import { inspectRepository } from '../substrate/git/inspect-repository.ts';
import { plainJson } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { makeReport } from './end-run.ts';
import { requireRegistered } from './needs.ts';
import { createRunFiles } from './sinks/run-files.ts';
import { loadSinks } from './sinks/sinks.ts';
import { openRunResources, type RunResources } from './run-resources.ts';
import { workspacesOf } from './workspaces.ts';

interface WriteFolderPorts extends Composition {
  readonly host: Host;
  /** Gets what the writer says, such as which file of a person it kept. */
  warn(text: string): void;
  /** Throws if the folder must not be written. Called once this process has the workspace. */
  refuse(reading: RunReading): void;
}

/**
 * Writes what is not complete of a run that is over, as the ledger has it, and the run's own files, which say whether it is. Throws
 * `wrong-environment` if a file cannot be written. Returns the folders that were not complete.
 */
export async function writeFoldersAgain(ports: WriteFolderPorts, path: string, runId: string): Promise<string[]> {
  const repository = await inspectRepository(ports.git, path);
  const { directory } = findState(ports.host.stateDirectory, repository.commonDirectory);
  const resources = openRunResources(ports, directory);
  try {
    resources.claim(runId);
    const workspaces = workspacesOf(ports, repository, directory);
    try {
      return await write(ports, resources, workspaces, { runId, root: repository.root });
    } finally {
      await workspaces.close();
    }
  } finally {
    resources.close();
  }
}

async function write(
  ports: WriteFolderPorts,
  resources: RunResources,
  workspaces: ReturnType<typeof workspacesOf>,
  of: { readonly runId: string; readonly root: string },
): Promise<string[]> {
  const { ledger, directory } = resources;
  const { runId, root } = of;
  const reading = readRun(ledger, runId, null, ports.playbooks);
  ports.refuse(reading);
  const { limits, board, segments } = reading;
  const definition = placedAt(reading.definition, root);
  const { name } = definition;
  const playbook = requireRegistered(ports, definition, []);
  const { state } = standingOf(reading, ports.clock.now());
  // No engine takes the run over, and this lease is used for no more than the id in it.
  const about = { lease: { runId, epoch: segments.at(-1)?.epoch ?? 0 }, definition, limits };
  const keeps = keepsFolder(definition);
  const sinks = await loadSinks();
  const files = createRunFiles({ ...ports, ledger, workspaces, playbook, keeps, sinks }, directory, about);
  files.changed(board);
  const written = await files.endFolders(state);
  for (const { folder, problem } of written) if (problem !== null) throw stillIncomplete(name, folder, problem);
  const again = written.filter(({ sink }) => incomplete(reading).some((one) => one.sink === sink));
  for (const one of again) ledger.append(runId, RUN_EVENTS.folder, plainJson(one));
  const { files: report } = await makeReport({ ...ports, playbook }, resources, workspaces, of);
  await files.end(state, report);
  return again.map(({ folder }) => folder);
}

function stillIncomplete(name: string, folder: string, problem: string): Error {
  return wrongEnvironment(
    `the files in ${plainLine(folder, 300)} are not complete: ${plainLine(problem, 300)}`,
    `Correct that, then run \`${writeAgainCommand(name)}\` again.`,
  );
}
