//! Real routing daemons beside the forwarder.
