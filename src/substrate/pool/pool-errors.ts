import { errorText, isSquadError, SquadError, wrongEnvironment } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { plainLine } from '../../text/plain-text.ts';

/** A connection that is gone or cannot be made now, a server that starts or ends, or one that is out of something. */
const PASSING = /^(?:08|57P|53|40|55P03|25006)|^E[A-Z]+$/;
/** Who may come in: password, certificate, database, role, right. */
const REFUSED = /^(?:28|3D|42501|0LP01)/;

const REFUSED_NEXT =
  'Check the name, password and rights in the address; docs/pool.md says which rights each role needs.';
const PASSING_NEXT =
  'Look whether it runs and can be reached: `squad pool --pool URL`. Nothing of this step was stored.';

/** An error of the database as squad reports it. Returns others unchanged. */
export function poolError(shown: string, error: unknown): unknown {
  if (isSquadError(error)) return error;
  const code = errorCode(error);
  const said = plainLine(errorText(error) || (code ?? ''), 300);
  if (code !== undefined && REFUSED.test(code))
    return wrongEnvironment(`the database of the pool ${shown} refuses: ${said}`, REFUSED_NEXT);
  if (/SELF_SIGNED|CERT|TLS|does not support SSL/.test(`${code} ${said}`))
    return wrongEnvironment(
      `the pool ${shown} cannot be trusted: ${said}`,
      'Beyond this machine it needs TLS with a certificate that is known here: sslrootcert=FILE in the address.',
    );
  if (code === '53100') return away('storage-full', `the disk of the pool ${shown} is full`, error);
  const isGone = /^Connection terminated|timeout|^Client (?:has encountered|was closed)/i.test(said);
  if (isGone || (code !== undefined && PASSING.test(code)))
    return away('storage-refused', `the database of the pool ${shown} does not answer: ${said}`, error);
  return error;
}

function away(code: 'storage-full' | 'storage-refused', message: string, cause: unknown): SquadError {
  return new SquadError({ code, message, next: PASSING_NEXT, cause });
}
