import { emitKeypressEvents } from 'node:readline';
import type { Key } from './keys.ts';

/** Reads key by key from the terminal, until the returned function is called. Does nothing where no terminal is read. */
export function readKeys(onKey: (key: Key) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const listener = (_: string | undefined, key: Key): void => onKey(key);
  // A terminal that is gone also sends a signal.
  const ignore = (): void => undefined;
  emitKeypressEvents(stdin);
  stdin.on('keypress', listener).on('error', ignore).setRawMode(true).resume();
  return () => {
    stdin.off('keypress', listener).off('error', ignore).pause();
    if (!stdin.destroyed) stdin.setRawMode(false);
  };
}
