//! Decodes uploaded images on blocking threads, within limits of time, count and memory.
//!
//! The images that are decoded at the same time need no more memory than the largest alone: small ones two at a time,
//! large ones one after the other.

mod decode;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Mutex, Semaphore};

use self::decode::DecodedImage;
use crate::error::{PlatformError, PlatformResult};

/// Bytes of an uploaded image, at most: 25 MiB.
pub const IMAGE_BYTES_MAX: usize = 25 << 20;
/// Pixels of an uploaded image, at most: 50 megapixels.
pub const IMAGE_PIXELS_MAX: u64 = 50_000_000;
/// Images decoded at once.
const DECODED_AT_ONCE_MAX: usize = 2;
/// Bytes of memory in a permit for decoding: 1 MiB.
const PERMIT_BYTES: u64 = 1 << 20;
/// Permits of all images that are decoded at once: the largest takes them all.
const PERMITS_MAX: u32 = (decode::WORKING_BYTES_MAX / PERMIT_BYTES + 1) as u32;
/// Uploads that wait for their turn or are decoded.
const UPLOADS_WAITING_MAX: usize = 16;
/// Archives that are read at the same time: each needs the memory of two images.
const ARCHIVES_MAX: usize = 2;

/// Bounds the uploads of a node.
pub(crate) struct ImageLimits {
    decoding: Arc<Semaphore>,
    /// Memory of the images that are decoded.
    decoding_memory: Arc<Semaphore>,
    pub(crate) waiting: Semaphore,
    pub(crate) archives: Arc<Semaphore>,
    /// One image is stored at a time, so that of two uploads of one image the second finds the first.
    pub(crate) storing: Mutex<()>,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self {
            decoding: Arc::new(Semaphore::new(DECODED_AT_ONCE_MAX)),
            decoding_memory: Arc::new(Semaphore::new(PERMITS_MAX as usize)),
            waiting: Semaphore::new(UPLOADS_WAITING_MAX),
            archives: Arc::new(Semaphore::new(ARCHIVES_MAX)),
            storing: Mutex::default(),
        }
    }
}

impl ImageLimits {
    /// Decodes an image when its turn has come and there is memory for it. The inner error is of the file.
    pub(crate) async fn decode(&self, content: Bytes) -> PlatformResult<Result<DecodedImage, String>> {
        let failed = |error| PlatformError::Internal(format!("an image could not be decoded: {error}"));
        let Ok(turn) = Arc::clone(&self.decoding).acquire_owned().await else { return Err(PlatformError::Busy) };
        let header = content.clone();
        let bytes = tokio::task::spawn_blocking(move || decode::working_bytes(&header)).await.map_err(failed)?;
        let permits = match bytes {
            Ok(bytes) => u32::try_from(bytes / PERMIT_BYTES + 1).unwrap_or(PERMITS_MAX).min(PERMITS_MAX),
            Err(problem) => return Ok(Err(problem)),
        };
        let memory = Arc::clone(&self.decoding_memory).acquire_many_owned(permits).await;
        let Ok(memory) = memory else { return Err(PlatformError::Busy) };
        let decoding = tokio::task::spawn_blocking(move || {
            let decoded = decode::decode(&content);
            // Kept by the thread, which goes on when the request ends early.
            drop((turn, memory));
            decoded
        });
        decoding.await.map_err(failed)
    }
}
