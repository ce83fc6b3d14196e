import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepSession } from '../../../src/runtimes/acp/host/conversation.ts';

let root: string;
let chats: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'squad-kept-session-'));
  chats = join(root, 'work', 'chats');
  mkdirSync(chats, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const ID = 'ae5b0fc9-80c6-406b-b02f-412701c1404c';
const write = (name: string, text = name): void => writeFileSync(join(chats, name), text);

describe('the file of a session that is resumed', () => {
  it('gets a name that the agent gives to no new file', () => {
    write('session-2026-11-22T16-22-ae5b0fc9.jsonl', 'the conversation');
    write('session-2026-11-22T16-22-de409b69.jsonl');
    keepSession(root, ID);
    expect(readdirSync(chats).toSorted()).toEqual([
      'session-0-ae5b0fc9.jsonl',
      'session-2026-11-22T16-22-de409b69.jsonl',
    ]);
    expect(readFileSync(join(chats, 'session-0-ae5b0fc9.jsonl'), 'utf8')).toBe('the conversation');
  });

  it('stays what it is when a later resume has left an empty one', () => {
    write('session-0-ae5b0fc9.jsonl', 'the conversation');
    write('session-2026-11-22T16-23-ae5b0fc9.jsonl', 'empty');
    keepSession(root, ID);
    expect(readFileSync(join(chats, 'session-0-ae5b0fc9.jsonl'), 'utf8')).toBe('the conversation');
    expect(readdirSync(chats)).toHaveLength(2);
  });

  it('need not be there', () => {
    keepSession(root, ID);
    keepSession(join(root, 'missing'), ID);
    expect(readdirSync(chats)).toEqual([]);
  });
});
