import { SquadError } from '../model/errors.ts';
import { addressOf } from '../model/mail/address.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import type { RunDefinition } from '../model/run.ts';

/** Throws `bad-input` for a route from or to an address or role that this run does not have. */
export function refuseLostRoutes({ agents, mail }: Pick<RunDefinition, 'agents' | 'mail'>, line: number): void {
  const known = [...new Set([MAIN, ...agents.flatMap((agent) => [agent.name, addressOf(agent), agent.role])])];
  const named = Object.entries(mail.routes ?? {}).flatMap(([from, to]) =>
    [from, ...to].map((name) => ({ from, name })),
  );
  const lost = named.find(({ name }) => !known.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (lost === undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `squad.yaml:${line}: mail.routes.${lost.from}: no agent or role is called ${lost.name}`,
    next: `Name an agent or a role of this run: ${known.join(', ')}.`,
  });
}
