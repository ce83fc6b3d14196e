import { usageError } from '../../model/errors.ts';
import type { Team } from '../../model/sprint/team.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { plainLine } from '../../text/plain-text.ts';

export function unknownRequest({ request }: Pick<Team, 'request'>, id: string) {
  return usageError(noSuch('request', plainLine(id, 40), [...request.keys()]), 'See `squad request list`.');
}
