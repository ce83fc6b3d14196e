import { createRunFiles, type RunFiles } from '../../src/engine/run-files.ts';
import type { Playbook } from '../../src/model/plan.ts';
import { createRedactor } from '../../src/model/redaction/redactor.ts';
import { createSystemClock } from '../../src/substrate/clock/system-clock.ts';
import type { RecordedRun } from '../report/support.ts';

/** The writer of a recorded run's files, as its engine would have it, and what it warns of. */
export function filesOf(
  run: RecordedRun,
  playbook: Pick<Playbook<unknown>, 'files'> = {},
  secrets: readonly string[] = [],
): { readonly files: RunFiles; readonly warnings: string[] } {
  const warnings: string[] = [];
  const files = createRunFiles(
    {
      clock: createSystemClock(),
      redactor: () => createRedactor(secrets),
      ledger: run.ledger,
      playbook,
      warn: (text) => warnings.push(text),
    },
    run.directory,
    { lease: run.lease, definition: run.about },
  );
  return { files, warnings };
}
