"""What fills the screen between header and footer."""
