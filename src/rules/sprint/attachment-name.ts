import { fileName } from '../../text/file-name.ts';

/** The name under which a file is kept, safe in every file system; or why no file may be called so. */
export function attachmentName(given: string): { readonly name: string } | { readonly problem: string } {
  if (given.trim() === '') return { problem: 'it has no name' };
  if (given.includes('\0')) return { problem: 'its name has a NUL in it' };
  if (/[/\\]/.test(given)) return { problem: 'its name is a path' };
  if (/^\.{1,2}$/.test(given.trim())) return { problem: 'its name is that of a folder' };
  if (/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(given))
    return { problem: 'its name has a control character' };
  return { name: fileName(given) };
}
