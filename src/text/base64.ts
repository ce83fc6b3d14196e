import { plainText } from './plain-text.ts';

/** The text that base64 stands for, safe to show; undefined: its bytes are no text. */
export function decodedText(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? plainText(text) : undefined;
}

/** How many bytes it stands for. */
export function decodedLength(base64: string): number {
  return Buffer.from(base64, 'base64').length;
}
