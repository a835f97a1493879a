//! Frames and stacks, each once: a stack is a node whose ancestors are its callers.

use std::collections::HashMap;

use crate::modules::ModuleId;

/// Number of a frame.
pub type FrameId = u32;
/// Number of a node.
pub type StackId = u32;

/// A place in the code: the module, if there is one, and the address it gives.
pub type Place = (Option<ModuleId>, u64);

/// All frames and nodes that were met, in the order in which they were.
#[derive(Debug, Default)]
pub struct CallTree {
    frames: Vec<Place>,
    by_place: HashMap<Place, FrameId>,
    nodes: Vec<(Option<StackId>, FrameId)>,
    by_node: HashMap<(Option<StackId>, FrameId), StackId>,
}

impl CallTree {
    /// The node of a stack, given from its outermost frame to its innermost. `None`: no frames.
    pub fn node(&mut self, stack: impl Iterator<Item = Place>) -> Option<StackId> {
        let mut parent = None;
        for place in stack {
            let frame = self.frame(place);
            parent = Some(self.child(parent, frame));
        }
        parent
    }

    fn frame(&mut self, place: Place) -> FrameId {
        *self.by_place.entry(place).or_insert_with(|| {
            self.frames.push(place);
            self.frames.len() as FrameId - 1
        })
    }

    fn child(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        *self.by_node.entry((parent, frame)).or_insert_with(|| {
            self.nodes.push((parent, frame));
            self.nodes.len() as StackId - 1
        })
    }

    /// All frames; the place is the number.
    pub fn frames(&self) -> &[Place] {
        &self.frames
    }

    /// All nodes: parent and frame; the place is the number.
    pub fn nodes(&self) -> &[(Option<StackId>, FrameId)] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_share_what_they_have_in_common() {
        let mut tree = CallTree::default();
        let main = (Some(1), 0x10);
        let scan = (Some(1), 0x20);
        let sort = (Some(2), 0x20);
        let first = tree.node([main, scan].into_iter());
        let second = tree.node([main, sort].into_iter());
        assert_eq!(tree.node([main, scan].into_iter()), first);
        assert_ne!(first, second);
        assert_eq!(tree.frames(), [main, scan, sort]);
        assert_eq!(tree.nodes(), [(None, 0), (Some(0), 1), (Some(0), 2)]);
        assert_eq!(tree.node(std::iter::empty()), None);
    }
}
