import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** Whether a program that was started with pipes has got them: without a free descriptor there are none. */
export function hasPipes<C extends Pick<ChildProcess, 'stdin' | 'stdout'>>(
  child: C,
): child is C & { readonly stdin: Socket; readonly stdout: Socket } {
  return [child.stdin, child.stdout].every((pipe) => pipe !== null && pipe !== undefined && 'unref' in pipe);
}
