import type { RunnableConfig } from '@langchain/core/runnables';
import { isJsonObject } from '../text/json.ts';
import type { ThreadCall } from './drive.ts';
import { placeIn } from './read-state.ts';

/** A run as a client of the server asks for it. */
export interface Asked {
  /** Or a command of LangGraph, of whichever copy of the package. */
  readonly input?: unknown;
  readonly interruptBefore?: unknown;
  readonly interruptAfter?: unknown;
}

export function callOf({ input, interruptBefore, interruptAfter }: Asked, config: RunnableConfig): ThreadCall {
  const command = isCommand(input) ? input : undefined;
  const others = { interruptBefore, interruptAfter, goto: command?.['goto'], update: command?.['update'] };
  return {
    ...placeIn(config),
    input: command === undefined ? input : undefined,
    resume: command?.['resume'],
    beyond: Object.entries(others).flatMap(([name, given]) => (isGiven(given) ? [name] : [])),
  };
}

/** The body of a request of the server that starts a run. */
export function bodyOf(threadId: string, body: unknown): ThreadCall {
  const { input, command, checkpoint, checkpoint_id, interrupt_before, interrupt_after } = objectIn(body);
  const named = objectIn(checkpoint)['checkpoint_id'] ?? checkpoint_id;
  const commanded = isJsonObject(command) ? { ...command, lg_name: 'Command' } : input;
  const asked = { input: commanded, interruptBefore: interrupt_before, interruptAfter: interrupt_after };
  return callOf(asked, { configurable: { thread_id: threadId, checkpoint_id: named } });
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function isCommand(input: unknown): input is Readonly<Record<string, unknown>> {
  return isJsonObject(input) && input['lg_name'] === 'Command';
}

function isGiven(given: unknown): boolean {
  return Array.isArray(given) ? given.length > 0 : given !== undefined && given !== null;
}
