import { z } from 'zod';
import { NO_VALUE } from '../text/explain-issue.ts';
import { isRuntimeName } from './runtime-name.ts';
import { isSlug } from './slug.ts';
import { VARIABLE } from './turn-request.ts';

export const slugSchema = z
  .string()
  .refine(isSlug, 'needs lower-case letters, digits and dashes, starting with a letter, at most 32 characters');

export const runtimeNameSchema = z
  .string()
  .refine(isRuntimeName, 'names no runtime: those of squad are slugs, and agents of ACP are acp/<slug>');

const MAX_COMMAND = 4096;

/** Invisible or reordering: a person who is asked to trust a command has to see what it does. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

/** Why this text cannot be a command that is shown, trusted and run; undefined if it can. */
export function commandRefusal(text: string): string | undefined {
  if (text.trim() === '') return 'the command is empty';
  if (text.length > MAX_COMMAND) {
    return `the command is longer than ${MAX_COMMAND} characters; put it into a script and run that`;
  }
  if (HIDDEN.test(text) || !text.isWellFormed()) {
    return 'the command holds invisible characters; it is shown before it runs, so everything in it must be visible';
  }
  return undefined;
}

export const commandSchema = z.string().superRefine((text, context) => {
  const message = commandRefusal(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** One argument of a program, which may be empty. */
export const argumentSchema = z
  .string()
  .max(MAX_COMMAND)
  .refine(
    (text) => !HIDDEN.test(text) && !text.includes('\n') && text.isWellFormed(),
    'holds invisible characters; it is shown before it is used, so everything in it must be visible',
  );

/** A file of the repository, by its path from the root. Reading it has to be confined as well: links are not seen here. */
export const filePathSchema = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\u0000-\u001f\\:]{1,300}$/,
    'needs a path inside the repository, from its root, without “..”, backslash or colon',
  );

/** A folder of the repository, by its path from the root. */
export const folderPathSchema = z
  .string()
  .regex(
    /^(?!\/)(?!.*\/\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^\u0000-\u001f\\]{1,300}$/,
    'needs a folder of the repository by its path from the root, such as packages/web, without “..” or backslash',
  );

/** The name of an environment variable, whose value is never written down. */
export const variableSchema = z.string().regex(VARIABLE, NO_VALUE);

/** The address of a server, without a login. */
export const urlSchema = z
  .string()
  .max(2000)
  .regex(
    /^https?:\/\/[^\s/?#@\u0000-\u0020]+(?:[/?#][\u0021-\u007e]*)?$/,
    'needs an address that begins with https:// or http://',
  );

/** By header: the name of the variable that holds its value. */
export const headersSchema = z.record(
  z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'is not the name of a header'),
  variableSchema,
);
