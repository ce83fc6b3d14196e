import type { Host } from '../compose.ts';
import { plainLine } from '../text/plain-text.ts';

/** Who gave a command, as it is stored and shown. A user id without a name, as in some containers, is `operator`. */
export function operatorOf({ environment }: Host): string {
  return plainLine(environment['USER'] ?? environment['LOGNAME'] ?? 'operator', 64);
}
