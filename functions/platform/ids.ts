import { v7 } from 'uuid';

/** Ids sort by the time they were made, so a list by id is a list by age. */
export type NewId = () => string;

export const newId: NewId = () => v7();
