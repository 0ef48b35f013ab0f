"""What readers of tables meet: tags of Lake Formation, views of Athena."""
