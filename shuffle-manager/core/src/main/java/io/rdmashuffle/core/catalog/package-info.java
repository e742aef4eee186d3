/**
 * Which map output lies in which file, and which partition where in it: the engine-independent
 * answer to LOCATE. Lookups are on the owner's hot path; everything else happens at commit, at
 * removal, or on the slow pool.
 */
package io.rdmashuffle.core.catalog;
