import type { Redactor } from '../../model/redaction/redactor.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';

/** The records of a repository, as what delivers messages uses them. */
export interface PeoplePorts {
  /** The state of the repository. */
  readonly directory: string;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'text'>;
  /** undefined: there is no ledger yet. */
  readonly read: <T>(work: (ledger: Ledger) => T) => T | undefined;
  readonly write: (work: (ledger: Ledger) => void) => Promise<void>;
  readonly say: (text: string) => void;
}
