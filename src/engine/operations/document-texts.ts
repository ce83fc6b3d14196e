// Problems of a required document, in words for its author.

export const DOCUMENT = {
  absent: 'the document is not in your commit',
  notAFile: 'a folder, link or submodule is there, not a file',
  tooLarge: (kib: number) => `the document is larger than ${kib} KiB; shorten it`,
  notText: 'the document is not UTF-8 text',
  empty: 'the document is empty',
  noText: 'the document has no text besides headings and comments',
  missing: (heading: string) => `the heading “${heading}” is missing`,
  after: (heading: string, last: string) => `the heading “${heading}” must come after “${last}”`,
  bare: (heading: string) => `the heading “${heading}” has no text of its own below it`,
};
