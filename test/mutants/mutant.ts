/** One wrong line, and the tests that should notice it. */
export interface Mutant {
  /** What is wrong then, as one would report it. */
  what: string;
  file: string;
  /** Stands exactly once in the file. */
  from: string;
  to: string;
  /** Tried first, because they should notice; when they do not, all tests of the domain are. */
  noticedBy: string[];
}
