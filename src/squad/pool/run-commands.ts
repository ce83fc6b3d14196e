import { z } from 'zod';
import type { Host } from '../../engine/machine.ts';
import { errorText, isSquadError, SquadError, ERROR_CODES, type ErrorCode } from '../../model/errors.ts';
import { requestSchema, type InterventionRequest } from '../../model/plan/verbs.ts';
import type { PoolClaim, PoolCommand, PoolStore } from '../../substrate/ports/pool.ts';
import { defined } from '../../text/defined.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { answer, type Answered } from '../answer.ts';
import { intervene, type Intervened } from '../intervene.ts';
import { stop, type Stopped } from '../stop.ts';
import type { Place } from '../open-workspace.ts';

/** Commands that people give a run from elsewhere. */
export interface RemoteCommands {
  readonly intervene: { readonly request: InterventionRequest };
  readonly answer: {
    readonly given: string;
    readonly question?: string | undefined;
    readonly paths: readonly string[];
  };
  readonly stop: Readonly<Record<string, never>>;
}

export interface RemoteAnswers {
  readonly intervene: Intervened;
  readonly answer: Answered;
  readonly stop: Stopped;
}

export type RemoteVerb = keyof RemoteCommands;

const interveneSchema = z.object({ request: requestSchema });
const answerSchema = z.object({ given: z.string(), question: z.string().optional(), paths: z.array(z.string()) });

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];
const answeredSchema = z.union([
  z.object({ done: z.json() }),
  z.object({ refused: z.object({ code: z.enum(codes), message: z.string(), next: z.string().optional() }) }),
]);

/** The worker’s answer. Throws what the command was refused with there. */
export function readAnswer(given: Json): Json {
  const read = answeredSchema.parse(given);
  if ('done' in read) return read.done;
  const { code, message, next } = read.refused;
  throw new SquadError({ code, message, ...defined({ next }) });
}

/** Does what people have asked of a run from elsewhere, in their order and each once. Returns how many there were. */
export async function obeyCommands(
  ports: { readonly place: Place; readonly store: PoolStore; readonly claim: PoolClaim },
  done: (command: PoolCommand) => Promise<void>,
): Promise<number> {
  const { store, claim } = ports;
  const commands = await store.commandsFor(claim.run);
  for (const command of commands) {
    const said = await obey(ports.place, command);
    // Its effect is kept before anyone hears of it.
    await done(command);
    await store.answerCommand(claim, command.id, said);
  }
  return commands.length;
}

async function obey(place: Place, command: PoolCommand): Promise<Json> {
  const { run, verb, args, id, by } = command;
  // A worker that died in between did it already, and the same key finds that.
  const options = { key: id };
  const theirs = { ...place, host: inNameOf(place.host, by) };
  try {
    if (verb === 'answer') {
      const { given, question, paths } = answerSchema.parse(args);
      const answered = await answer(theirs, run, given, question, { ...options, paths });
      return plainJson({ done: { ...answered, driven: true } });
    }
    if (verb === 'stop') return plainJson({ done: await stop(theirs, run, options) });
    if (verb !== 'intervene') throw unknownVerb(verb);
    const done = await intervene(theirs, run, interveneSchema.parse(args).request, options);
    // This worker continues the run itself.
    return plainJson({ done: { ...done, driven: done.needs !== 'retry' } });
  } catch (error) {
    if (isSquadError(error))
      return plainJson({ refused: { code: error.code, message: error.message, next: error.next } });
    return plainJson({ refused: { code: 'bad-input', message: `the worker could not do this: ${errorText(error)}` } });
  }
}

function inNameOf(host: Host, by: string): Host {
  return { ...host, environment: { ...host.environment, USER: by }, through: 'the pool' };
}

function unknownVerb(verb: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `the worker knows no command ${verb.slice(0, 40)}`,
    next: 'Update squad on the worker.',
  });
}
