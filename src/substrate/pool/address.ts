import { usageError, wrongEnvironment } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';

export interface PoolAddress {
  /** For the library. */
  readonly url: string;
  /** For people: without the password. */
  readonly shown: string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|)$/;
/** With the others, libpq and `pg` would do without encryption, or not look at whom they talk to. */
const CHECKED = /^(?:require|verify-ca|verify-full)$/;

/** Throws `usage` for what is no address of a PostgreSQL, and `wrong-environment` for one beyond this machine without TLS. */
export function poolAddress(text: string): PoolAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw usageError(
      `${plainLine(hidden(text), 200)} is no address of a pool`,
      'Give one such as `--pool postgres://squad@db.example/squad`, or set SQUAD_POOL.',
    );
  const mode = url.searchParams.get('sslmode');
  const socket = url.searchParams.get('host');
  const isHere = socket === null ? LOOPBACK.test(url.hostname) : socket.startsWith('/') || LOOPBACK.test(socket);
  if (!isHere && mode !== null && !CHECKED.test(mode))
    throw wrongEnvironment(
      `a pool beyond this machine has to be reached by TLS, and its address says sslmode=${plainLine(mode, 20)}`,
      'Leave sslmode out, or say sslmode=verify-full; a certificate of your own goes into sslrootcert=FILE.',
    );
  if (!isHere) url.searchParams.set('sslmode', 'verify-full');
  return { url: url.href, shown: plainLine(`${url.protocol}//${url.host}${url.pathname}`, 200) };
}

function hidden(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@');
}
