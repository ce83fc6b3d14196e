import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { SquadError } from '../model/errors.ts';

const TYPE = 'json';
/** Keys by which LangChain's serialisers name a class to instantiate, and JavaScript a prototype to change. */
const REFUSED_KEYS: ReadonlySet<string> = new Set(['lc', '__proto__']);

/**
 * Checkpoints as plain JSON. LangGraph's own serialiser instantiates classes that a checkpoint names, and squad stores none.
 * Throws `database-corrupt` when it reads such a checkpoint, and refuses to write one.
 */
export const plainSerde: SerializerProtocol = {
  dumpsTyped: (value: unknown) => {
    const text = JSON.stringify(value ?? null, plainOnly);
    refuseClasses(JSON.parse(text));
    return Promise.resolve([TYPE, new TextEncoder().encode(text)]);
  },
  loadsTyped: (type, data) => {
    if (type !== TYPE) throw refused(`is of the type ${JSON.stringify(type.slice(0, 40))}`);
    const value = parse(typeof data === 'string' ? data : new TextDecoder().decode(data));
    refuseClasses(value);
    return Promise.resolve(value);
  },
};

/** LangGraph's other stored values besides the state: tasks sent to nodes, and errors of nodes. */
function plainOnly(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if ('lg_name' in value && value.lg_name === 'Send' && 'node' in value && 'args' in value) {
    return { node: value.node, args: value.args };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return value;
  throw new Error(`a checkpoint cannot hold a ${value.constructor.name}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw refused('is no JSON', cause);
  }
}

/** Iterative, because planted data may be nested deeper than the stack. */
function refuseClasses(value: unknown): void {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const found = Object.keys(next).find((key) => REFUSED_KEYS.has(key));
    if (found !== undefined) throw refused(`holds the key “${found}”, which would make an object of a class`);
    for (const item of Object.values(next)) open.push(item);
  }
}

function refused(why: string, cause?: unknown): SquadError {
  return new SquadError({
    code: 'database-corrupt',
    message: `a checkpoint in checkpoints.db was not written by squad: it ${why}`,
    next: 'Find out who wrote to the folder that `squad state` names. Then move checkpoints.db there away and run `squad resume`: the ledger knows where the run stands.',
    ...(cause === undefined ? {} : { cause }),
  });
}
