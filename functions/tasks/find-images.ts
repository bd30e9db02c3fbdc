import { findVerifiedImages } from '../artifacts/find-verified-images.ts';
import type { Payload } from './task.ts';
import { type AssignedImage, containersOf, nameImage } from './workload.ts';

/** Those images of a launch that are registered and verified, as planTask wants them. */
export function findImages(payload: Payload<'oci.launch' | 'compose.up'>): Promise<AssignedImage[]> {
  const named = containersOf(payload).map(({ repository, digest }) => ({ repository, digest }));
  return findVerifiedImages([...new Map(named.map((image) => [nameImage(image), image])).values()]);
}
