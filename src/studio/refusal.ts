import { isSquadError } from '../model/errors.ts';
import { plainText } from '../text/plain-text.ts';

/** 409: another process is at it. 422: squad does not do this. A client repeats any other failure, and with it the command. */
export type RefusalStatus = 409 | 422;

/** The Agent Server sends the response of an error that has `getResponse`. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly #body: Readonly<Record<string, unknown>>;

  /** `more`: for programs, besides the texts. */
  constructor(status: RefusalStatus, message: string, next: string, more: Readonly<Record<string, unknown>> = {}) {
    // A refusal in the middle of a stream is only its message.
    super(plainText(`${message}\nNext: ${next}`));
    this.name = 'Refusal';
    this.status = status;
    this.#body = { error: plainText(message), next: plainText(next), ...more };
  }

  getResponse(): Response {
    return Response.json(this.#body, { status: this.status });
  }
}

/** An error of squad as the server answers it. Any other error is a bug, and stays one. */
export function refusalOf(error: unknown): unknown {
  if (!isSquadError(error)) return error;
  const busy = error.code === 'workspace-busy' || error.code === 'lease-fenced';
  return new Refusal(busy ? 409 : 422, error.message, error.next ?? 'Run `squad doctor`.', { code: error.code });
}

/** Runs the work, and makes its errors refusals. */
export async function refusing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(error);
  }
}
