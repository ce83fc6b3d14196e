import { createRunFiles, type RunFiles } from '../../src/engine/sinks/run-files.ts';
import { loadSinks } from '../../src/engine/sinks/sinks.ts';
import type { KeepsFolder } from '../../src/model/folder.ts';
import type { Playbook } from '../../src/model/plan.ts';
import { createRedactor } from '../../src/model/redaction/redactor.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import type { RecordedRun } from '../view/report/support.ts';

const SINKS = await loadSinks();

/** The writer of a recorded run's files, and what it warns of. `documents`: by the first letter of a commit, `:` and their path. */
export function filesOf(
  run: RecordedRun,
  { folder: keeps, ...playbook }: Pick<Playbook<unknown>, 'files' | 'stages'> & { readonly folder?: KeepsFolder } = {},
  secrets: readonly string[] = [],
  documents: Readonly<Record<string, string>> = {},
): { readonly files: RunFiles; readonly warnings: string[] } {
  const warnings: string[] = [];
  const files = createRunFiles(
    {
      clock: createSystemClock(),
      redactor: () => createRedactor(secrets),
      ledger: run.ledger,
      playbook,
      keeps,
      sinks: SINKS,
      workspaces: {
        readFileAt: async (commit, path) => {
          const text = documents[`${commit.slice(0, 1)}:${path}`];
          return Promise.resolve(text === undefined ? 'absent' : new TextEncoder().encode(text));
        },
      },
      warn: (text) => warnings.push(text),
    },
    run.directory,
    { lease: run.lease, definition: run.about, limits: run.about.limits },
  );
  return { files, warnings };
}
