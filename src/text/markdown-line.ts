/** A line of others as it stands in a paragraph, a list item or a table's cell of Markdown: text, and no markup. */
export function markdownLine(line: string): string {
  return (
    line
      .replaceAll(/[\\`*[\]<>&|~!$]/g, String.raw`\$&`)
      // Within a word an underscore is harmless, and an escape makes names hard to read.
      .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
      // At the start of a text these begin a block.
      .replace(/^[#+=-]/, String.raw`\$&`)
      .replace(/^(\d+)([.)])/, String.raw`$1\$2`)
  );
}
