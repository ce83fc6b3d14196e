/** At most the first `most` bytes of a text, without half a character at the end. */
export function cutBytes(text: string, most: number): { readonly text: string; readonly isCut: boolean } {
  // No character takes more than three bytes of each of its units.
  if (text.length * 3 <= most) return { text, isCut: false };
  const bytes = Buffer.from(text.slice(0, most + 1));
  if (bytes.length <= most) return { text, isCut: false };
  return {
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most), { stream: true }),
    isCut: true,
  };
}
