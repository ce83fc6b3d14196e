import { failpoint } from '../../failpoint.ts';
import type { Store } from '../store.ts';
import { write } from '../transactions.ts';

/** One write of the mailbox: all of it or nothing, on disk when it returns. */
export function mailWrite<T>({ db }: Store, work: () => T): T {
  const result = write(db, () => {
    const value = work();
    failpoint('mail.before-commit');
    return value;
  });
  failpoint('mail.after-commit');
  return result;
}
